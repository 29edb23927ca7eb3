package provider

import (
	"strings"
	"testing"
)

const templateOf = `
resource "fqc_parameter_template" "t" {
  name   = "terraform-template"
  values = { %s }
}
output "version" { value = fqc_parameter_template.t.version }
`

func template(values string) string { return strings.Replace(templateOf, "%s", values, 1) }

func TestATemplateIsMadeChangedImportedAndDeleted(t *testing.T) {
	w := needStack(t).workdir(t)
	w.apply(template(`table_open_cache = "{DBInstanceClassMemory / 262144}", wait_timeout = "600"`))
	w.configure(template(`table_open_cache = "{DBInstanceClassMemory / 262144}"`))
	if plan := w.changed(); !strings.Contains(plan, `- "wait_timeout"`) {
		t.Errorf("the plan does not say what it removes:\n%s", plan)
	}
	w.must("apply", "-auto-approve")
	w.unchanged()
	if version := w.outputs()["version"]; version != 2.0 {
		t.Errorf("the version is %v, and not the second", version)
	}
	w.must("state", "rm", "fqc_parameter_template.t")
	w.must("import", "fqc_parameter_template.t", "terraform-template")
	w.unchanged()
}

func TestAWrongValueOfATemplateIsAnErrorAtItsKey(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(template(`max_connections = "{DBInstanceClassMemory*0.75}"`))
	w.t.Cleanup(func() { w.run("destroy", "-auto-approve") })
	code, out := w.run("apply", "-auto-approve", "-no-color")
	if code != 1 || !strings.Contains(out, "The template was not made") || !strings.Contains(out, "values") {
		t.Errorf("it ends with %d:\n%s", code, out)
	}
}
