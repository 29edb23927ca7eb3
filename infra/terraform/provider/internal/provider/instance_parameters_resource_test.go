package provider

import (
	"strings"
	"testing"
)

const parametersOf = `
resource "fqc_instance_parameters" "p" {
  instance_id = "INSTANCE"
  parameters  = { VALUES }
}
output "resolved" { value = fqc_instance_parameters.p.resolved }
`

func parametersConfig(instance, values string) string {
	return strings.NewReplacer("INSTANCE", instance, "VALUES", values).Replace(parametersOf)
}

func TestParametersAreOneBatchAndRemovedKeysAreReset(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[0].ID
	w.apply(parametersConfig(id, `table_open_cache = "{DBInstanceClassMemory/262144}", thread_cache_size = "77"`))
	resolved := w.outputs()["resolved"].(map[string]any)
	if resolved["table_open_cache"] != "2048" || resolved["thread_cache_size"] != "77" {
		t.Errorf("resolved is %v", resolved)
	}
	w.apply(parametersConfig(id, `table_open_cache = "{DBInstanceClassMemory/262144}"`))
	if left := s.parameter(t, id, "thread_cache_size"); left.Configured != nil || *left.Running == "77" {
		t.Errorf("a removed key is still configured as %v and runs as %v", left.Configured, *left.Running)
	}
	if kept := s.parameter(t, id, "innodb_buffer_pool_size"); kept.Configured == nil {
		t.Error("a parameter that was never named was reset")
	}
}

func TestNoDiffThoughTheServerRoundsAValue(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[0].ID
	// The server keeps multiples of 1024 alone.
	w.apply(parametersConfig(id, `max_heap_table_size = "{16777216/1000*1001}", table_open_cache = "{ DBInstanceClassMemory / 262144 }"`))
	found := s.parameter(t, id, "max_heap_table_size")
	if *found.Resolved == *found.Running {
		t.Errorf("the server did not round: %s", *found.Running)
	}
	w.unchangedForCycles()
}

func TestAChangeMadeInTheConsoleIsUndoneByTheNextApply(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[0].ID
	w.apply(parametersConfig(id, `table_open_cache = "1500"`))
	s.alter(t, id, s.setParameters, map[string]any{"parameters": map[string]string{"table_open_cache": "1600"}})
	if plan := w.changed(); !strings.Contains(plan, `"1600" -> "1500"`) {
		t.Errorf("the plan does not show the drift:\n%s", plan)
	}
	w.must("apply", "-auto-approve")
	w.unchangedForCycles()
	if now := s.parameter(t, id, "table_open_cache"); *now.Running != "1500" {
		t.Errorf("it runs %s", *now.Running)
	}
	s.alter(t, id, s.setParameters, map[string]any{"parameters": map[string]string{"wait_timeout": "500"}})
	w.unchanged() // not one of ours
	s.alter(t, id, s.setParameters, map[string]any{"parameters": map[string]any{"wait_timeout": nil}})
}

func TestAValueThatIsRefusedFailsThePlanAtItsKey(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[0].ID
	w.refused(parametersConfig(id, `max_connections = "99999999"`), "above_maximum", "max_connections")
	w.refused(parametersConfig(id, `max_connections = "{1+1}"`), "expression_invalid")
	w.refused(parametersConfig("rm-nowhere", `max_connections = "10"`), "no instance rm-nowhere")
}

func TestAChangeLeftToTheWindowIsNotPlannedTwice(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[0].ID
	s.setWindow(t, id, inHours(12))
	w.configure(`provider "fqc" { when = "window" }` + parametersConfig(id, `thread_cache_size = "55"`))
	w.must("apply", "-auto-approve")
	t.Cleanup(func() { s.abortWaiting(t, id) })
	w.unchanged()
	if now := s.parameter(t, id, "thread_cache_size"); *now.Running == "55" {
		t.Error("it did not wait for the window")
	}
}

func TestParametersAreImported(t *testing.T) {
	s := needStack(t)
	w, id := s.workdir(t), s.Instances[1].ID
	w.configure(parametersConfig(id, `innodb_buffer_pool_size = "{DBInstanceClassMemory*7/10}", max_connections = "{DBInstanceClassConnections}"`))
	w.must("import", "fqc_instance_parameters.p", s.Instances[1].Name)
	w.unchanged()
}
