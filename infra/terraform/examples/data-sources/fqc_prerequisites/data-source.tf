data "fqc_prerequisites" "orders" {
  instance_id = "rm-0123456789abcdef"
}

output "remedies" {
  value = [for f in data.fqc_prerequisites.orders.findings : f.remedy if f.severity == "blocking"]
}
