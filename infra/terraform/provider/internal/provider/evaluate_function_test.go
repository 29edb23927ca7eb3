package provider

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
	"fast-query-cache.dev/terraform-provider-fqc/internal/expression"
)

func TestExpressionsAreEvaluatedWithoutAControlPlane(t *testing.T) {
	w := needStack(t).workdir(t)
	w.configure(`
output "pool" { value = provider::fqc::evaluate("{DBInstanceClassMemory*63/100}", { DBInstanceClassMemory = 12884901888 }) }
output "huge" { value = format("%d", provider::fqc::evaluate("{18446744073709551615*10}", {})) }
`)
	w.must("apply", "-auto-approve", "-no-color")
	if found := w.outputs(); found["pool"] != 8117488189.0 || found["huge"] != "184467440737095516150" {
		t.Errorf("it gives %v", found)
	}
	w.refused(`output "x" { value = provider::fqc::evaluate("{8/0}", {}) }`, "column 3", "division by zero")
	w.refused(`output "x" { value = provider::fqc::evaluate("{8}", { Memory = 1 }) }`, "Memory", "Known are")
}

// The provider and the API evaluate by two programs; here each expression gets the same answer from both.
func TestTheAPIAgreesOnExpressions(t *testing.T) {
	s := needStack(t)
	for _, text := range []string{
		"{DBInstanceClassMemory*3/4}", "{DBInstanceClassMemory*7/100}", "{LEAST(DBInstanceClassMemory/1073741824*256, 2048)}",
		"LEAST({DBInstanceClassMemory/256},10485760)", "GREATEST({DBInstanceClassMemory/9868951},80)", "{7/2*2}", "<8*8>",
		"{SUM(DBInstanceClassMemory/1073741824, DBInstanceClassCPU)}", "{least(1,2,3)}", "{{8/3}*3}", "{GREATEST({1*2},1)}",
		"{99999999999999999999*99999999999999999999}", "{ 8 * 8 }", "{8/0}", "{DBInstanceClassMemory*0.75}", "{1+1}", "", "8",
		"DBInstanceClassMemory", "{LEAST(1,,8)}", "{LEAST()}", "{8", "{8}}", "{dbinstanceclassmemory}", "{AllocatedStorage*0}", "{8>", "<8}",
	} {
		agree(t, s, text)
	}
}

func agree(t *testing.T, s *stack, text string) {
	t.Helper()
	memory, cpu := int64(12884901888), int64(4)
	body := api.ExpressionRequestRequest{Expression: text, Variables: &api.ClassVariablesRequest{DBInstanceClassMemory: &memory, DBInstanceClassCPU: &cpu}}
	theirs, err := api.Read[api.Evaluation](s.client.ExpressionsEvaluate(context.Background(), nil, body))
	if err != nil {
		t.Fatal(err)
	}
	value, failed := expression.Evaluate(text, map[string]*big.Int{"DBInstanceClassMemory": big.NewInt(memory), "DBInstanceClassCPU": big.NewInt(cpu)})
	if (failed == nil) != (theirs.Error == nil) {
		t.Errorf("%q: here %v (%v), there %v (%v)", text, value, failed, theirs.Value, theirs.Error)
	} else if failed == nil && (theirs.Value == nil || *theirs.Value != fmt.Sprint(value)) {
		t.Errorf("%q: here %v, there %v", text, value, *theirs.Value)
	}
}
