# A tenth of the buffer pool; fails in the plan if a prerequisite is missing, and says what mends it.
resource "fqc_query_cache" "orders" {
  instance_id = "rm-0123456789abcdef"
}

# A size of one's own, for statements that ask for it.
resource "fqc_query_cache" "reports" {
  instance_id = "rm-fedcba9876543210"
  type        = "DEMAND"
  size_bytes  = 64 * 1024 * 1024
}
