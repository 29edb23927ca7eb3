data "fqc_prerequisites" "orders" {
  instance_id = "rm-0123456789abcdef"
}

output "remedies" {
  value = [for f in data.fqc_prerequisites.orders.findings : f.remedy if f.severity == "blocking"]
}

# Privileges that the account lacks, as statements to run on the server.
output "grants" {
  value = flatten([for f in data.fqc_prerequisites.orders.findings : f.statements if f.code == "privilege_missing"])
}
