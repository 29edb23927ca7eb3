"""What tests share: databases, clients, real servers. The product never imports it."""
