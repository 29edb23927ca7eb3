resource "fqc_parameter_template" "oltp" {
  name        = "oltp"
  description = "Many short transactions."

  values = {
    innodb_buffer_pool_size = "{DBInstanceClassMemory*7/10}"
    table_open_cache        = "{LEAST(DBInstanceClassMemory/1073741824*256, 2048)}"
    wait_timeout            = "600"
  }
}
