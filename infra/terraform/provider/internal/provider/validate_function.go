package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/expression"
)

func newValidate() function.Function { return validate{} }

type validate struct{}

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
