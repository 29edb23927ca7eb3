resource "fqc_alert_rule" "cold" {
  name            = "Cache is cold"
  metric          = "hit_ratio"
  comparison      = "lt"
  threshold       = 20 # percent
  for_seconds     = 900
  minimum_traffic = 10
  severity        = "critical"
  tags            = { team = "orders" }
  recipients      = ["dba@example.com"]
}
