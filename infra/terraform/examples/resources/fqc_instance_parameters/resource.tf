resource "fqc_instance_parameters" "orders" {
  instance_id = "rm-0123456789abcdef"

  # One change set. A key that is removed here is reset to its default.
  parameters = {
    innodb_buffer_pool_size = "{DBInstanceClassMemory*63/100}"
    thread_cache_size       = "128"
  }
}

output "pool_bytes" {
  value = fqc_instance_parameters.orders.resolved["innodb_buffer_pool_size"]
}
