package provider

import (
	"context"
	"strings"
	"testing"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

const templateOf = `
resource "fqc_parameter_template" "t" {
  name   = "terraform-template"
  values = { %s }
}
output "version" { value = fqc_parameter_template.t.version }
output "line" { value = fqc_parameter_template.t.engine_line }
`

func template(values string) string { return strings.Replace(templateOf, "%s", values, 1) }

func TestATemplateIsMadeChangedImportedAndDeleted(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
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
	found, err := api.Read[api.Instance](s.client.InstancesRetrieve(context.Background(), s.Instances[0].ID))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(strings.Split(found.EngineVersion, ".")[:2], ".")
	if made := w.outputs()["line"]; !strings.Contains(made.(string), line) {
		t.Errorf("the template is for %v, and not for the servers of the fleet, %s", made, line)
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
