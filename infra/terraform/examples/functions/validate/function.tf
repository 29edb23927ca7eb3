variable "pool_size" {
  type    = string
  default = "{DBInstanceClassMemory*7/10}"

  validation {
    condition     = provider::fqc::validate(var.pool_size).is_valid
    error_message = provider::fqc::validate(var.pool_size).message
  }
}
