variable "signing_key" {
  type      = string
  sensitive = true
}

resource "fqc_channel" "orders" {
  name           = "On call for orders"
  kind           = "webhook"
  url            = "https://alerts.example.com/fqc"
  secret         = var.signing_key
  tags           = { team = "orders" }
  least_severity = "critical"
}
