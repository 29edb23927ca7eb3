terraform import fqc_instance.orders rm-0123456789abcdef
