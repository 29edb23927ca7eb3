package provider

import "testing"

func TestDataSourcesReadTheCatalogueAndTheChecks(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[1].ID
	w.configure(`
data "fqc_instance_classes" "all" {}
data "fqc_parameters" "cache" { search = "query_cache" }
data "fqc_templates" "all" {}
data "fqc_prerequisites" "p" { instance_id = "` + id + `" }
data "fqc_preview" "p" {
  instance_id = "` + id + `"
  parameters  = { thread_cache_size = "66" }
}
locals {
  large = one([for c in data.fqc_instance_classes.all.items : c if c.name == "fqc.n4.large"])
}
output "pool" { value = provider::fqc::evaluate("{DBInstanceClassMemory*3/4}", local.large.variables) }
output "parameters" { value = [for p in data.fqc_parameters.cache.items : p.name] }
output "shipped" { value = [for t in data.fqc_templates.all.items : t.name if t.is_system] }
output "ready" { value = data.fqc_prerequisites.p.is_ready }
output "new" { value = data.fqc_preview.p.lines[0].new_value }
`)
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()
	if found["pool"] != 9663676416.0 || found["ready"] != true || found["new"] != "66" {
		t.Errorf("outputs are %v", found)
	}
	if len(found["parameters"].([]any)) < 3 || len(found["shipped"].([]any)) < 2 {
		t.Errorf("lists are %v", found)
	}
}
