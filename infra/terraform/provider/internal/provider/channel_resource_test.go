package provider

import "testing"

func TestAChannelIsMadeChangedAndImported(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	of := func(more string) string {
		return `resource "fqc_channel" "c" {
  name = "terraform: on call"
  ` + more + `
}
output "id" { value = fqc_channel.c.id }
`
	}
	mail := `kind = "mail"` + "\n  "
	w.apply(of(mail + `recipients = ["dba@example.com"]`))
	w.apply(of(mail + `recipients = ["dba@example.com", "team@example.com"]` + "\n  " + `tags = { team = "orders" }`))
	id := w.outputs()["id"].(string)
	w.must("state", "rm", "fqc_channel.c")
	w.must("import", "fqc_channel.c", id)
	w.unchanged()
	w.refused(of(`kind = "pigeon"`), "pigeon")
	w.refusedByServer(of(`kind = "webhook"`+"\n  "+`url = "http://10.1.2.3/"`+"\n  "+`secret = "sixteen-characters"`), "allowed")
}
