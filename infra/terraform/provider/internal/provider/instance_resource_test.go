package provider

import (
	"fmt"
	"strings"
	"testing"
)

func TestALocalInstanceIsMadeResizedImportedAndRemoved(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	of := func(class, tags string) string {
		return `resource "fqc_instance" "i" {
  name           = "terraform-made"
  instance_class = "` + class + `"
  tags           = { ` + tags + ` }
}
resource "fqc_instance_parameters" "p" {
  instance_id    = fqc_instance.i.id
  instance_class = fqc_instance.i.instance_class
  parameters     = { table_open_cache = "{DBInstanceClassMemory/262144}" }
}
output "resolved" { value = fqc_instance_parameters.p.resolved.table_open_cache }
output "id" { value = fqc_instance.i.id }
output "minor" { value = fqc_instance.i.minor_version }
output "versions" { value = [fqc_instance.i.engine_version, fqc_instance.i.fqc_version] }
`
	}
	w.apply(of("local.small", `team = "a"`))
	id := w.outputs()["id"]
	if minor := w.outputs()["minor"].(float64); minor < 20200331 {
		t.Errorf("the engine's minor version is %v", minor)
	}
	for _, version := range w.outputs()["versions"].([]any) {
		if !strings.Contains(version.(string), ".") {
			t.Errorf("%q is no version", version)
		}
	}
	w.apply(of("local.medium", `team = "b"`))
	if w.outputs()["id"] != id {
		t.Error("a resize made a new instance")
	}
	if resolved := w.outputs()["resolved"]; resolved != "4096" {
		t.Errorf("after the resize the expression comes to %v", resolved)
	}
	w.unchangedForCycles()
	w.must("state", "rm", "fqc_instance.i")
	w.must("import", "fqc_instance.i", fmt.Sprint(id))
	w.unchanged()
	s.setWindow(t, fmt.Sprint(id), inHours(12))
	inWindow := "provider \"fqc\" { when = \"window\" }\n"
	w.configure(inWindow + of("local.small", `team = "b"`))
	w.must("apply", "-auto-approve", "-no-color")
	w.unchanged()
	s.abortWaiting(t, fmt.Sprint(id))
	// In a window that is open each change is at work at once, and the next of the same instance has to wait for it.
	s.setWindow(t, fmt.Sprint(id), inHours(0))
	w.apply(inWindow + of("local.small", `team = "b"`))
	if resolved := w.outputs()["resolved"]; resolved != "2048" {
		t.Errorf("after the resize in an open window the expression comes to %v", resolved)
	}
}

func TestAnExternalInstanceKeepsItsPasswordOutOfState(t *testing.T) {
	s := needStack(t)
	w, server := s.workdir(t), s.Instances[1]
	at := func(host, password, more string) string {
		return fmt.Sprintf(`resource "fqc_instance" "i" {
  name             = "terraform-borrowed"
  instance_class   = "local.small"
  host             = %q
  port             = %d
  username         = %q
  %s
  password_version = 1
  %s
}
`, host, server.Port, server.Username, password, more)
	}
	given := fmt.Sprintf("password = %q", server.Password)
	of := func(more string) string { return at(server.Host, given, more) }
	w.apply(of(""))
	if strings.Contains(w.state(), server.Password) {
		t.Error("the password is in state")
	}
	w.apply(of(`maintenance_window = { weekday = 6, start = "03:30", minutes = 90 }`))
	w.apply(of(`proxy_enabled = true`))
	w.configure(at("localhost", "", ""))
	code, out := w.run("apply", "-auto-approve", "-no-color")
	if code != 1 || !strings.Contains(out, "password") || !strings.Contains(out, "not given for the new host") {
		t.Errorf("it moves without its password (%d):\n%s", code, out)
	}
	w.apply(at("localhost", given, ""))
}

func TestAnUnknownClassIsNamed(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`resource "fqc_instance" "i" {
  name           = "never"
  instance_class = "no.such.class"
}`)
	code, out := w.run("apply", "-auto-approve", "-no-color")
	if code != 1 || !strings.Contains(out, "no.such.class") {
		t.Errorf("it ends with %d:\n%s", code, out)
	}
}
