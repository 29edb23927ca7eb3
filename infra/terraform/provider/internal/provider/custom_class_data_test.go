package provider

import "testing"

func TestAMachineOfAnySizeHasAClass(t *testing.T) {
	w := needStack(t).workdir(t)
	of := func(memory string) string {
		return `
data "fqc_custom_class" "a" {
  memory_bytes = ` + memory + `
  cpu_count    = 6
}
data "fqc_custom_class" "b" {
  memory_bytes    = ` + memory + `
  cpu_count       = 6
  max_connections = 500
}
data "fqc_instance_classes" "all" { depends_on = [data.fqc_custom_class.a] }
output "names" { value = [data.fqc_custom_class.a.name, data.fqc_custom_class.b.name] }
output "memory" { value = one([for c in data.fqc_instance_classes.all.items : c.memory_bytes if c.name == data.fqc_custom_class.a.name]) }
`
	}
	w.configure(of("24 * 1024 * 1024 * 1024"))
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()
	names := found["names"].([]any)
	if names[0] == "" || names[0] == names[1] || found["memory"] != 24.0*(1<<30) {
		t.Errorf("outputs are %v", found)
	}
	w.unchanged()
	w.refused(of("1"), "greater than or equal to", "memory_bytes")
}
