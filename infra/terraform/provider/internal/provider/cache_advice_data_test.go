package provider

import (
	"strings"
	"testing"
)

func TestWhetherTheCachePaysIsAskedOfTheLiveServer(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	of := func(instance string) string {
		return `
data "fqc_cache_advice" "a" { instance_id = "` + instance + `" }
output "verdict" { value = data.fqc_cache_advice.a.verdict }
output "text" { value = data.fqc_cache_advice.a.text }
output "is_enough" { value = data.fqc_cache_advice.a.is_enough }
`
	}
	s.alter(t, s.Instances[1].ID, s.disableCache, map[string]any{})
	t.Cleanup(func() {
		unset := map[string]any{"query_cache_size": nil, "query_cache_type": nil}
		s.alter(t, s.Instances[1].ID, s.setParameters, map[string]any{"parameters": unset})
	})
	w.configure(of(s.Instances[1].ID))
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()
	if found["verdict"] != "observe" || found["is_enough"] != false || !strings.Contains(found["text"].(string), "observe the server's reads first") {
		t.Errorf("outputs are %v", found)
	}
	w.refused(of("rm-nowhere"), "no instance rm-nowhere", `instance_id = "rm-nowhere"`)
}
