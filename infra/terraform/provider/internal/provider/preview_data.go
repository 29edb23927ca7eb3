package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newPreview() datasource.DataSource { return &preview{} }

type preview struct{ readable }

type lineItem struct {
	Name         string  `tfsdk:"name"`
	OldSubmitted *string `tfsdk:"old_submitted"`
	NewSubmitted *string `tfsdk:"new_submitted"`
	OldValue     *string `tfsdk:"old_value"`
	NewValue     *string `tfsdk:"new_value"`
	NeedsRestart bool    `tfsdk:"needs_restart"`
}

type previewModel struct {
	InstanceID   types.String  `tfsdk:"instance_id"`
	Parameters   types.Map     `tfsdk:"parameters"`
	Template     types.String  `tfsdk:"template"`
	IsBlocked    bool          `tfsdk:"is_blocked"`
	NeedsRestart bool          `tfsdk:"needs_restart"`
	Lines        []lineItem    `tfsdk:"lines"`
	Findings     []findingItem `tfsdk:"findings"`
}

func (d *preview) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_preview"
}

func (d *preview) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "What a template or parameters would change on an instance. Changes nothing.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{Required: true},
			"parameters":  schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"template":    schema.StringAttribute{Optional: true, MarkdownDescription: "Id or name."},
			"is_blocked":  flag("A check refuses it."), "needs_restart": flag("It restarts the server, if that is allowed."),
			"lines": items(map[string]schema.Attribute{
				"name": text(""), "old_submitted": text(""), "new_submitted": text(""), "old_value": text(""), "new_value": text(""), "needs_restart": flag(""),
			}),
			"findings": findings(),
		},
	}
}

func (d *preview) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var state previewModel
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, rootInstance, &state.InstanceID)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, rootParameters, &state.Parameters)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, rootTemplate, &state.Template)...)
	wanted := batch(state.Parameters, types.MapNull(types.StringType))
	body := api.PreviewRequestRequest{
		Instance: state.InstanceID.ValueString(), Parameters: &wanted, AllowRestart: &d.allowRestart, Template: state.Template.ValueStringPointer(),
	}
	found, err := api.Read[api.ChangePreview](d.ChangesPreview(ctx, nil, body))
	state.IsBlocked, state.NeedsRestart = found.IsBlocked, found.NeedsRestart
	state.Findings, state.Lines = findingItems(found.Findings), []lineItem{}
	for _, it := range found.Lines {
		state.Lines = append(state.Lines, lineItem{it.Name, it.OldSubmitted, it.NewSubmitted, it.OldValue, it.NewValue, it.NeedsRestart})
	}
	conclude(ctx, resp, err, &state, orSubject(either(keys("parameters", wanted), roots("parameters", "template"))))
}
