package provider

import (
	"fmt"
	"slices"
	"testing"
)

func TestVersionsSayWhatIsOfferedAndWhatRuns(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	w.configure(`
data "fqc_versions" "v" {}
output "lines" { value = [for l in data.fqc_versions.v.engine_lines : l.id] }
output "offered" { value = data.fqc_versions.v.offered }
output "least" { value = data.fqc_versions.v.least_acceptable }
output "run" { value = { for m in data.fqc_versions.v.minor_versions : m.minor_version => m.instance_count if m.is_offered } }
`)
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()
	if !slices.Contains(found["lines"].([]any), any("5.7")) || found["least"] != 20200331.0 {
		t.Errorf("outputs are %v", found)
	}
	for version, count := range found["run"].(map[string]any) {
		if version != fmt.Sprintf("%.0f", found["offered"]) || count.(float64) < float64(len(s.Instances)) {
			t.Errorf("%v instances run %s, and %.0f is offered", count, version, found["offered"])
		}
	}
}
