package provider

import "testing"

func TestAPreviewShowsLinesAndFindingsAndChangesNothing(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[1].ID
	of := func(more string) string {
		return `
data "fqc_preview" "p" {
  instance_id = "` + id + `"
  ` + more + `
}
output "lines" { value = { for l in data.fqc_preview.p.lines : l.name => l.new_value } }
output "blocked" { value = data.fqc_preview.p.is_blocked }
`
	}
	w.configure(of(`parameters = { thread_cache_size = "66" }`))
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()
	if found["lines"].(map[string]any)["thread_cache_size"] != "66" || found["blocked"] != false {
		t.Errorf("outputs are %v", found)
	}
	if now := s.parameter(t, id, "thread_cache_size"); *now.Running == "66" {
		t.Error("a preview changed the server")
	}
	w.configure(of(`template = "fast-query-cache-on"`))
	w.must("apply", "-auto-approve", "-no-color")
	if lines := w.outputs()["lines"].(map[string]any); lines["query_cache_type"] != "1" {
		t.Errorf("the template's lines are %v", lines)
	}
	w.refused(of(`template = "nowhere"`), "nowhere", `template = "nowhere"`)
}
