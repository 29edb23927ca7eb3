package provider

import (
	"context"
	"strings"
	"testing"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func cacheConfig(instance, more string) string {
	return `resource "fqc_query_cache" "c" {
  instance_id = "` + instance + `"
  ` + more + `
}
output "size" { value = fqc_query_cache.c.size_bytes }
`
}

func (s *stack) cache(t *testing.T, instance string) api.CacheStatus {
	t.Helper()
	found, err := api.Read[api.CacheStatus](s.client.InstancesCacheStatus(context.Background(), instance))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheCacheIsEnabledSizedImportedDriftedAndDisabled(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[1].ID
	w.apply(cacheConfig(id, ""))
	if size := w.outputs()["size"].(float64); size < 1<<20 || int(size)%1024 != 0 {
		t.Errorf("the rule chose %v bytes", size)
	}
	w.apply(cacheConfig(id, "size_bytes = 8388608"))
	if now := s.cache(t, id); !now.IsEnabled || *now.SizeBytes != 8388608 {
		t.Errorf("the cache is %+v", now)
	}
	w.must("state", "rm", "fqc_query_cache.c")
	w.must("import", "fqc_query_cache.c", s.Instances[1].Name)
	w.unchanged()
	s.alter(t, id, s.disableCache, map[string]any{})
	if plan := w.changed(); !strings.Contains(plan, "fqc_query_cache.c will be created") {
		t.Errorf("a cache that was disabled in the console is not enabled again:\n%s", plan)
	}
	w.must("apply", "-auto-approve")
	w.unchanged()
	w.must("destroy", "-auto-approve")
	if s.cache(t, id).IsEnabled {
		t.Error("removing the resource did not disable the cache")
	}
}

func TestAFailedPrerequisiteIsAnErrorOfThePlanThatNamesItsRemedy(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[1].ID
	s.alter(t, id, s.setProxy, map[string]any{"enabled": true})
	t.Cleanup(func() { s.alter(t, id, s.setProxy, map[string]any{"enabled": false}) })
	w.refused(cacheConfig(id, ""), "Refused by the check", "proxy", "instance_id")
}

func TestASizeThatDoesNotFitIsAnErrorAtItsAttribute(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	w.refused(cacheConfig(s.Instances[1].ID, "size_bytes = 8388609"), "multiple of 1024", "size_bytes = 8388609")
}
