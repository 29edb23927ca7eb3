# A fleet from nothing: a template, an instance with its parameters, the cache, and an alarm.
terraform {
  required_version = ">= 1.11"
  required_providers {
    fqc = { source = "fast-query-cache/fqc" }
  }
}

provider "fqc" {}

resource "fqc_instance" "shop" {
  name           = "shop"
  instance_class = "local.medium"
  tags           = { team = "shop" }
}

resource "fqc_instance_parameters" "shop" {
  instance_id    = fqc_instance.shop.id
  instance_class = fqc_instance.shop.instance_class
  parameters = {
    innodb_buffer_pool_size = "{DBInstanceClassMemory*63/100}"
    table_open_cache        = "{DBInstanceClassMemory/262144}"
  }
}

resource "fqc_query_cache" "shop" {
  instance_id        = fqc_instance.shop.id
  size_bytes         = 32 * 1024 * 1024
  shrink_buffer_pool = false # the pool is managed above
}

resource "fqc_alert_rule" "cold" {
  name            = "The shop's cache is cold"
  metric          = "hit_ratio"
  comparison      = "lt"
  threshold       = 20 # percent
  minimum_traffic = 10
  instance_id     = fqc_instance.shop.id
}
