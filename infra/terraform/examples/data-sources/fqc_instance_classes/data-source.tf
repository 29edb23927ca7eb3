data "fqc_instance_classes" "all" {}
