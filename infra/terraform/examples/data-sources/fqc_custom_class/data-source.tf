data "fqc_custom_class" "orders" {
  memory_bytes = 24 * 1024 * 1024 * 1024
  cpu_count    = 6
}

resource "fqc_instance" "orders" {
  name           = "orders-1"
  instance_class = data.fqc_custom_class.orders.name
  host           = "10.0.3.17"
  username       = "fqc"
}
