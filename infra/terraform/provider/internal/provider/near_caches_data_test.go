package provider

import "testing"

func TestNearCachesAreListed(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	of := func(instance string) string {
		return `
data "fqc_near_caches" "n" { instance_id = "` + instance + `" }
output "names" { value = [for n in data.fqc_near_caches.n.items : "${n.name} ${n.state}"] }
`
	}
	w.configure(of(s.Instances[1].ID))
	w.must("apply", "-auto-approve", "-no-color")
	if found := w.outputs()["names"].([]any); len(found) != 0 {
		t.Errorf("nobody has attached to the second instance, and the list is %v", found)
	}
	w.refused(of("rm-nowhere"), "no instance rm-nowhere", `instance_id = "rm-nowhere"`)
}
