# A server that exists, and is registered.
resource "fqc_instance" "orders" {
  name             = "orders-1"
  instance_class   = "fqc.n4.large"
  host             = "10.0.3.17"
  username         = "fqc"
  password         = var.orders_password # write-only: never in state
  password_version = 1                   # raise it to send a new one
  tags             = { team = "orders" }

  maintenance_window = {
    weekday = 6
    start   = "03:00"
    minutes = 90
  }
}

# One that the control plane makes and runs on its own machine.
resource "fqc_instance" "trial" {
  name           = "trial"
  instance_class = "local.small"
}

variable "orders_password" {
  type      = string
  ephemeral = true
}
