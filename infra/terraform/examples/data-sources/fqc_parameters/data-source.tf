data "fqc_parameters" "cache" {
  search = "query_cache"
}

output "static" {
  value = [for p in data.fqc_parameters.cache.items : p.name if p.needs_restart]
}
