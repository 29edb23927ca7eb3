package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newParameters() datasource.DataSource { return &parameters{} }

type parameters struct{ readable }

type parameterItem struct {
	Name         string  `tfsdk:"name"`
	Type         string  `tfsdk:"type"`
	Unit         string  `tfsdk:"unit"`
	Default      *string `tfsdk:"default"`
	Allowed      string  `tfsdk:"allowed"`
	Divisor      int     `tfsdk:"divisor"`
	IsModifiable bool    `tfsdk:"is_modifiable"`
	Access       string  `tfsdk:"access"`
	AccessReason string  `tfsdk:"access_reason"`
	NeedsRestart bool    `tfsdk:"needs_restart"`
	Description  string  `tfsdk:"description"`
}

func (d *parameters) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_parameters"
}

func (d *parameters) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The parameters of an engine line.",
		Attributes: map[string]schema.Attribute{
			"engine_line": schema.StringAttribute{Optional: true, MarkdownDescription: "Default: `5.7`."},
			"search":      schema.StringAttribute{Optional: true, MarkdownDescription: "Part of the name."},
			"items": items(map[string]schema.Attribute{
				"name": text(""), "type": text(""), "unit": text(""), "default": text("May be an expression."), "allowed": text("`[a-b]`, `[x|y]` or a pattern."),
				"divisor": count("Values are multiples of it."), "is_modifiable": flag("Whether anybody may set it."), "needs_restart": flag(""), "description": text(""),
				"access": text("Who may set it: `operator`, `admin` or `never`."), "access_reason": text("Why; empty for operators."),
			}),
		},
	}
}

func (d *parameters) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	state := struct {
		EngineLine types.String    `tfsdk:"engine_line"`
		Search     types.String    `tfsdk:"search"`
		Items      []parameterItem `tfsdk:"items"`
	}{}
	resp.Diagnostics.Append(req.Config.Get(ctx, &state)...)
	line := state.EngineLine.ValueString()
	if line == "" {
		line = "5.7"
	}
	query := &api.ParametersListParams{EngineLine: &line, Search: state.Search.ValueStringPointer()}
	found, err := api.Read[api.ParameterList](d.ParametersList(ctx, query))
	state.Items = []parameterItem{}
	for _, it := range found.Items {
		state.Items = append(state.Items, parameterItem{it.Name, string(it.Type), it.Unit, it.Default, it.Allowed.Notation, it.Divisor, it.IsModifiable, string(it.Access), it.AccessReason, it.NeedsRestart, it.Description})
	}
	conclude(ctx, resp, err, &state, roots("engine_line", "search"))
}
