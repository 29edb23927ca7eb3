data "fqc_near_caches" "orders" {
  instance_id = "rm-0123456789abcdef"
}

output "detached" {
  value = [for n in data.fqc_near_caches.orders.items : n.name if n.state == "detached"]
}
