package provider

import (
	"context"
	"errors"
	"math/big"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/expression"
)

var (
	rootInstance   = path.Root("instance_id")
	rootParameters = path.Root("parameters")
	rootTemplate   = path.Root("template")
)

func newEvaluate() function.Function { return evaluate{} }
func newValidate() function.Function { return validate{} }

type (
	evaluate struct{}
	validate struct{}
)

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
	if unknown := expression.Unknown(variables); len(unknown) > 0 {
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

// exact has as many bits as the number needs: the usual 53 would round it.
func exact(value *big.Int) *big.Float {
	return new(big.Float).SetPrec(uint(max(value.BitLen(), 64))).SetInt(value)
}

var validationTypes = map[string]attr.Type{
	"is_valid": types.BoolType, "column": types.Int64Type, "message": types.StringType, "hint": types.StringType,
}

func (validate) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "validate"
}

func (validate) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary:             "Whether a text is an expression",
		MarkdownDescription: "Says whether a text is a well-formed expression and, if not, at which column it fails and why: for `validation` blocks.",
		Parameters:          []function.Parameter{function.StringParameter{Name: "expression"}},
		Return:              function.ObjectReturn{AttributeTypes: validationTypes},
	}
}

func (validate) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	result := struct {
		IsValid bool   `tfsdk:"is_valid"`
		Column  *int64 `tfsdk:"column"`
		Message string `tfsdk:"message"`
		Hint    string `tfsdk:"hint"`
	}{IsValid: true}
	_, err := expression.Parse(text)
	var fault *expression.Error
	if errors.As(err, &fault) {
		column := int64(fault.Column)
		result.IsValid, result.Column, result.Message, result.Hint = false, &column, fault.Error(), fault.Hint
	}
	resp.Error = resp.Result.Set(ctx, result)
}
