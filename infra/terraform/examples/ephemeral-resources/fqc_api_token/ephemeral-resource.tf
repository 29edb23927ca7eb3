ephemeral "fqc_api_token" "run" {
  name  = "this run"
  scope = "operator"
}
