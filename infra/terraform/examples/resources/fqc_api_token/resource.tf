resource "fqc_api_token" "dashboards" {
  name       = "dashboards"
  scope      = "viewer"
  expires_at = "2027-12-31T00:00:00Z"
}
