package provider

import (
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/expression"
)

func newEvaluate() function.Function { return evaluate{} }

type evaluate struct{}

func (evaluate) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "evaluate"
}

func (evaluate) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary:             "What an expression comes to",
		MarkdownDescription: "Evaluates an expression such as `{DBInstanceClassMemory*7/10}` with the variables of a class. Whole numbers of any size; every division truncates.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "expression", MarkdownDescription: "In braces or angle brackets, or a call of `LEAST`, `GREATEST` or `SUM`."},
			function.MapParameter{Name: "variables", ElementType: types.NumberType, MarkdownDescription: "As `fqc_instance_classes` gives them; only those that the expression names are needed."},
		},
		Return: function.NumberReturn{},
	}
}

func (evaluate) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	var given map[string]*big.Float
	if resp.Error = req.Arguments.Get(ctx, &text, &given); resp.Error != nil {
		return
	}
	variables := map[string]*big.Int{}
	for name, value := range given {
		whole, accuracy := value.Int(nil)
		if accuracy != big.Exact {
			resp.Error = function.NewArgumentFuncError(1, name+" is not a whole number.")
			return
		}
		variables[name] = whole
	}
	if unknown := unknownNames(variables); len(unknown) > 0 {
		resp.Error = function.NewArgumentFuncError(1, "No expression may name "+strings.Join(unknown, ", ")+". Known are "+strings.Join(expression.Variables, ", ")+".")
		return
	}
	value, err := expression.Evaluate(text, variables)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	resp.Error = resp.Result.Set(ctx, exact(value))
}

func unknownNames(variables map[string]*big.Int) []string {
	isKnown := func(name string) bool { return slices.Contains(expression.Variables, name) }
	return slices.DeleteFunc(slices.Sorted(maps.Keys(variables)), isKnown)
}

// exact converts an integer without rounding: Terraform's numbers are floats, and the usual 53 bits would not be
// enough.
func exact(value *big.Int) *big.Float {
	return new(big.Float).SetPrec(uint(max(value.BitLen(), 64))).SetInt(value)
}
