# Address and token usually come from FQC_URL and FQC_TOKEN.
provider "fqc" {
  url           = "https://fqc.example.com"
  when          = "window" # approve for each instance's maintenance window
  allow_restart = true     # and restart there if a static parameter needs it
}
