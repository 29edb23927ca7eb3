data "fqc_templates" "all" {}
