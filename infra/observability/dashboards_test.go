// Package observability tests the dashboards by Grafana's own schema. What they ask of Prometheus is tried by .ci/test_dashboards.py.
package observability

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wrong returns Grafana's errors for a dashboard; empty if it is valid. Parsing is strict: an unknown field is an error, even within
// the options of a panel type or data source. An empty list of errors is a non-nil error in Go, so only the text counts.
func wrong(text string) string {
	plugins.RegisterDefaultPlugins()
	var board dashboard.Dashboard
	if err := board.UnmarshalJSONStrict([]byte(text)); err != nil {
		return err.Error()
	}
	return ""
}

func TestGrafanaKnowsEveryField(t *testing.T) {
	files, _ := filepath.Glob("grafana/*.json")
	if len(files) != 3 {
		t.Errorf("fleet, instance and near cache are expected, not %v", files)
	}
	for _, file := range files {
		if told := wrong(read(t, file)); told != "" {
			t.Errorf("%s: %s", file, told)
		}
	}
}

func TestAFieldThatGrafanaDoesNotKnowIsSeen(t *testing.T) {
	known := read(t, "grafana/near.json")
	for _, name := range []string{"schemaVersion", "gridPos", "graphMode", "displayMode", "expr", "definition"} {
		misspelt := strings.Replace(known, `"`+name+`"`, `"`+name+`s"`, 1)
		if misspelt == known {
			t.Errorf("%s is not there", name)
		}
		if told := wrong(misspelt); !strings.Contains(told, name) {
			t.Errorf("%ss is taken for %s: %s", name, name, told)
		}
	}
}
