package provider

import (
	"slices"
	"testing"
)

func TestPrerequisitesAreCheckedOnTheLiveServer(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	of := func(instance string) string {
		return `
data "fqc_prerequisites" "p" { instance_id = "` + instance + `" }
output "ready" { value = data.fqc_prerequisites.p.is_ready }
output "codes" { value = [for f in data.fqc_prerequisites.p.findings : f.code] }
`
	}
	w.configure(of(s.Instances[1].ID))
	w.must("apply", "-auto-approve", "-no-color")
	if found := w.outputs(); found["ready"] != true || !slices.Contains(found["codes"].([]any), any("minor_version")) {
		t.Errorf("outputs are %v", found)
	}
	w.refused(of("rm-nowhere"), "no instance rm-nowhere", `instance_id = "rm-nowhere"`)
}
