package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runLimit is the longest time of one terraform run. It is only reached if a change never ends, and long enough for a
// loaded machine.
const runLimit = 5 * time.Minute

// workdir is a folder with one configuration and its state, for the real terraform. It uses the provider that was just
// built (by dev_overrides), so that neither a registry nor `init` is needed.
type workdir struct {
	*stack
	t    *testing.T
	path string
}

const head = `
terraform {
  required_providers {
    fqc = { source = "fast-query-cache/fqc" }
  }
}
`

func (s *stack) workdir(t *testing.T) *workdir {
	t.Helper()
	w := &workdir{s, t, t.TempDir()}
	rc := "provider_installation {\n  dev_overrides { \"fast-query-cache/fqc\" = \"" + s.binary + "\" }\n  direct {}\n}\n"
	w.write("terraform.rc", rc)
	return w
}

func (w *workdir) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.path, name), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workdir) configure(text string) { w.t.Helper(); w.write("main.tf", head+text) }

// run runs terraform, and returns its exit code and everything that it printed. It fails the test after runLimit.
func (w *workdir) run(arguments ...string) (int, string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	command := exec.CommandContext(ctx, "terraform", arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = time.Minute
	command.Dir = w.path
	command.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(w.path, "terraform.rc"),
		"FQC_URL="+w.Address, "FQC_TOKEN="+w.token, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1")
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		w.t.Fatalf("%s", w.isStuck(fmt.Sprintf("terraform %s did not end:\n%s", strings.Join(arguments, " "), out)))
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		w.t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(out)
}

// must runs terraform, and returns what it printed. It fails the test unless the exit code is 0.
func (w *workdir) must(arguments ...string) string {
	w.t.Helper()
	code, out := w.run(arguments...)
	if code != 0 {
		w.t.Fatalf("terraform %s ended with %d:\n%s", strings.Join(arguments, " "), code, out)
	}
	return out
}

// apply applies the configuration, expects that a second plan has no changes, and destroys everything when the test
// ends.
func (w *workdir) apply(text string) {
	w.t.Helper()
	w.configure(text)
	w.t.Cleanup(func() { w.run("destroy", "-auto-approve", "-no-color") })
	w.must("apply", "-auto-approve", "-no-color")
	w.unchanged()
}

// unchanged fails the test if a plan has changes.
func (w *workdir) unchanged() {
	w.t.Helper()
	if code, out := w.run("plan", "-detailed-exitcode", "-no-color"); code != 0 {
		w.t.Fatalf("a second plan wants something (%d):\n%s", code, out)
	}
}

// cycles is how many plans in a row must have no changes, since the differences of some providers come and go.
const cycles = 6

func (w *workdir) unchangedForCycles() {
	w.t.Helper()
	for range cycles {
		w.unchanged()
	}
}

// changed runs a plan, which must contain changes, and returns its text.
func (w *workdir) changed() string {
	w.t.Helper()
	code, out := w.run("plan", "-detailed-exitcode", "-no-color")
	if code != 2 {
		w.t.Fatalf("the plan wants nothing (%d):\n%s", code, out)
	}
	return out
}

// refused expects that a plan of the configuration fails, with all of these words in its output.
func (w *workdir) refused(text string, words ...string) { w.t.Helper(); w.fails(text, words, "plan") }

// refusedByServer expects that the configuration fails when it is applied, with all of these words in the output: for
// errors that only the control plane finds.
func (w *workdir) refusedByServer(text string, words ...string) {
	w.t.Helper()
	w.fails(text, words, "apply", "-auto-approve")
}

func (w *workdir) fails(text string, words []string, arguments ...string) {
	w.t.Helper()
	w.configure(text)
	code, out := w.run(append(arguments, "-no-color")...)
	plain := strings.Join(strings.Fields(strings.ReplaceAll(out, "│", " ")), " ")
	for _, each := range words {
		if code != 1 || !strings.Contains(plain, each) {
			w.t.Fatalf("%s does not fail with %q (%d):\n%s", arguments[0], each, code, out)
		}
	}
}

func (w *workdir) outputs() map[string]any {
	w.t.Helper()
	found := map[string]struct{ Value any }{}
	if err := json.Unmarshal([]byte(w.must("output", "-json")), &found); err != nil {
		w.t.Fatal(err)
	}
	values := map[string]any{}
	for name, output := range found {
		values[name] = output.Value
	}
	return values
}

func (w *workdir) state() string { w.t.Helper(); return w.must("show", "-json") }
