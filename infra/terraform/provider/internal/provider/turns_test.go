package provider

import "testing"

func TestResourcesOfOneInstanceTakeTurns(t *testing.T) {
	s := needStack(t)
	w, server := s.workdir(t), s.Instances[1]
	of := func(threads, tables, size string) string {
		return `resource "fqc_instance_parameters" "by_id" {
  instance_id = "` + server.ID + `"
  parameters  = { thread_cache_size = "` + threads + `" }
}
resource "fqc_instance_parameters" "by_name" {
  instance_id = "` + server.Name + `"
  parameters  = { table_open_cache = "` + tables + `" }
}
` + cacheConfig(server.ID, "size_bytes = "+size)
	}
	w.apply(of("71", "1700", "8388608"))
	w.apply(of("72", "1800", "16777216"))
	for name, wanted := range map[string]string{"thread_cache_size": "72", "table_open_cache": "1800", "query_cache_size": "16777216"} {
		if now := s.parameter(t, server.ID, name); *now.Running != wanted {
			t.Errorf("%s is %s", name, *now.Running)
		}
	}
	w.must("destroy", "-auto-approve", "-no-color")
	if s.cache(t, server.ID).IsEnabled {
		t.Error("the cache is still enabled")
	}
}
