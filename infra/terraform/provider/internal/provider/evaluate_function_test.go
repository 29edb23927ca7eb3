package provider

import "testing"

func TestExpressionsAreEvaluatedWithoutAControlPlane(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`
output "pool" { value = provider::fqc::evaluate("{DBInstanceClassMemory*63/100}", { DBInstanceClassMemory = 12884901888 }) }
output "huge" { value = format("%d", provider::fqc::evaluate("{18446744073709551615*10}", {})) }
`)
	w.must("apply", "-auto-approve", "-no-color")
	if found := w.outputs(); found["pool"] != 8117488189.0 || found["huge"] != "184467440737095516150" {
		t.Errorf("it gives %v", found)
	}
	w.refused(`output "x" { value = provider::fqc::evaluate("{8/0}", {}) }`, "column 4", "a divisor of 0")
	w.refused(`output "x" { value = provider::fqc::evaluate("{8}", { Memory = 1 }) }`, "Memory", "Known are")
}
