package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExamplesAreValidAndFormatted(t *testing.T) {
	s := needStack(t)
	files, err := filepath.Glob("../../../examples/*/*.tf")
	deeper, _ := filepath.Glob("../../../examples/*/*/*.tf")
	files = append(files, deeper...)
	if err != nil || len(files) < 10 {
		t.Fatalf("examples are not where they were: %v %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w := s.workdir(t)
		if !strings.Contains(string(text), "required_providers") {
			w.write("head.tf", head)
		}
		w.write("main.tf", string(text))
		if code, out := w.run("validate", "-no-color"); code != 0 {
			t.Errorf("%s is not valid:\n%s", file, out)
		}
	}
	w := s.workdir(t)
	examples, _ := filepath.Abs("../../../examples")
	w.must("fmt", "-check", "-recursive", examples)
}

func TestTheCompleteExampleIsBroughtAbout(t *testing.T) {
	w := needStack(t).workdir(t)
	text, err := os.ReadFile("../../../examples/complete/main.tf")
	if err != nil {
		t.Fatal(err)
	}
	w.write("main.tf", string(text))
	t.Cleanup(func() { w.run("destroy", "-auto-approve", "-no-color") })
	w.must("apply", "-auto-approve", "-no-color")
	w.unchanged()
}
