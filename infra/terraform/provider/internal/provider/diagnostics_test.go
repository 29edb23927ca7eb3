package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func TestARefusalShowsWhatToRunOnTheServer(t *testing.T) {
	refusal := &api.Error{}
	refusal.Problem.Detail = "Run this statement on the server."
	refusal.Problem.Statements = &[]string{"GRANT SUPER ON *.* TO 'fqc'@'%';"}
	var diags diag.Diagnostics
	addError(&diags, "Not changed", refusal, roots("parameters"))
	if told := diags[0].Detail(); !strings.Contains(told, "Run on the server:\n  GRANT SUPER ON *.* TO 'fqc'@'%';") {
		t.Errorf("without a field at fault: %q", told)
	}
	if told := refusal.ToRun(); !strings.HasPrefix(told, "\nRun on the server:\n") {
		t.Errorf("beside a field at fault: %q", told)
	}
	refusal.Problem.Statements = nil
	if told := refusal.ToRun(); told != "" {
		t.Errorf("nothing to run: %q", told)
	}
}
