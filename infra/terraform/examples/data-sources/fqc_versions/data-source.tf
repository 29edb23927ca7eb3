data "fqc_versions" "all" {}

check "engine" {
  assert {
    condition     = alltrue([for m in data.fqc_versions.all.minor_versions : m.is_acceptable if m.instance_count > 0])
    error_message = "Some instances run an engine that is too old for the cache: `fqc instance upgrade` replaces it."
  }
}
