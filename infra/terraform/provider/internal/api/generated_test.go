package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTypesAreWhatTheContractGives(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "operations.gen.go")
	command := exec.Command("go", "tool", "oapi-codegen", "-config", "codegen.yaml", "-o", fresh, "../../../../../backend/openapi.yaml")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wanted, _ := os.ReadFile(fresh)
	found, err := os.ReadFile("operations.gen.go")
	if err != nil || !bytes.Equal(found, wanted) {
		t.Errorf("operations.gen.go is not what backend/openapi.yaml gives (%v): run `make generate`", err)
	}
}
