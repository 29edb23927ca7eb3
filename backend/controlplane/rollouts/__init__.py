"""One template applied to many instances, with bounded parallelism."""
