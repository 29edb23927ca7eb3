package provider

import (
	"strings"
	"testing"
)

func TestParametersAreFoundByAPartOfTheirName(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`
data "fqc_parameters" "cache" { search = "query_cache" }
output "divisors" { value = { for p in data.fqc_parameters.cache.items : p.name => p.divisor } }
`)
	w.must("apply", "-auto-approve", "-no-color")
	found := w.outputs()["divisors"].(map[string]any)
	if found["query_cache_size"] != 1024.0 || len(found) < 3 {
		t.Errorf("divisors are %v", found)
	}
	for name := range found {
		if !strings.Contains(name, "query_cache") {
			t.Errorf("%s was not asked for", name)
		}
	}
}
