package provider

import "testing"

func TestClassesGiveTheirVariablesToExpressions(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`
data "fqc_instance_classes" "all" {}
locals {
  large = one([for c in data.fqc_instance_classes.all.items : c if c.name == "fqc.n4.large"])
}
output "pool" { value = provider::fqc::evaluate("{DBInstanceClassMemory*3/4}", local.large.variables) }
output "cpus" { value = local.large.cpu_count }
`)
	w.must("apply", "-auto-approve", "-no-color")
	if found := w.outputs(); found["pool"] != 9663676416.0 || found["cpus"] != 4.0 {
		t.Errorf("outputs are %v", found)
	}
}
