terraform import fqc_channel.orders chn-0123456789abcdef
