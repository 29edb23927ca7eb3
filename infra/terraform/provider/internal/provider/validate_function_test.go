package provider

import "testing"

func TestATextIsValidatedAndItsFaultIsNamedAtItsColumn(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`
output "good" { value = provider::fqc::validate("{DBInstanceClassMemory*3/4}").is_valid }
output "wrong" { value = provider::fqc::validate("{DBInstanceClassMemory*0.75}") }
`)
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()
	wrong := found["wrong"].(map[string]any)
	if found["good"] != true || wrong["is_valid"] != false || wrong["column"] != 24.0 || wrong["hint"] != "write a fraction: *3/4 instead of *0.75" {
		t.Errorf("it gives %v", found)
	}
}
