data "fqc_cache_advice" "orders" {
  instance_id = "rm-0123456789abcdef"
}

# Enabled only where it pays.
resource "fqc_query_cache" "orders" {
  count       = contains(["enable", "keep"], data.fqc_cache_advice.orders.verdict) ? 1 : 0
  instance_id = "rm-0123456789abcdef"
}
