data "fqc_instance_classes" "all" {}

locals {
  large = one([for c in data.fqc_instance_classes.all.items : c if c.name == "fqc.n4.large"])
}

output "pool_bytes" {
  value = provider::fqc::evaluate("{DBInstanceClassMemory*63/100}", local.large.variables)
}
