package provider

import (
	"slices"
	"testing"
)

func TestTemplatesThatShipAreListed(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`
data "fqc_templates" "all" {}
output "shipped" { value = [for t in data.fqc_templates.all.items : t.name if t.is_system] }
`)
	w.must("apply", "-auto-approve", "-no-color")
	if shipped := w.outputs()["shipped"].([]any); !slices.Contains(shipped, any("fast-query-cache-on")) {
		t.Errorf("those that ship are %v", shipped)
	}
}
