data "fqc_preview" "orders" {
  instance_id = "rm-0123456789abcdef"
  template    = "fast-query-cache-on"
}

output "plan" {
  value = { for line in data.fqc_preview.orders.lines : line.name => "${coalesce(line.old_value, "-")} -> ${coalesce(line.new_value, "-")}" }
}
