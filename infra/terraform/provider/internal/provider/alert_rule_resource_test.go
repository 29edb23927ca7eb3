package provider

import "testing"

func TestAnAlertRuleIsMadeChangedAndImported(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	of := func(more string) string {
		return `resource "fqc_alert_rule" "r" {
  name       = "terraform: cold cache"
  metric     = "hit_ratio"
  comparison = "lt"
  ` + more + `
}
output "id" { value = fqc_alert_rule.r.id }
`
	}
	w.apply(of(`threshold = 20`))
	w.apply(of(`threshold = 10.5` + "\n  " + `instance_id = "` + s.Instances[0].ID + `"` + "\n  " + `recipients = ["dba@example.com"]`))
	id := w.outputs()["id"].(string)
	w.must("state", "rm", "fqc_alert_rule.r")
	w.must("import", "fqc_alert_rule.r", id)
	w.unchanged()
	w.refused(of(`threshold = "much"`), "threshold")
}
