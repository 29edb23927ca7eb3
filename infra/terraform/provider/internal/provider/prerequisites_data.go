package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newPrerequisites() datasource.DataSource { return &prerequisites{} }

type prerequisites struct{ readable }

func (d *prerequisites) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_prerequisites"
}

func (d *prerequisites) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Whether the fast query cache may be enabled on an instance, checked against the live server.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{Required: true},
			"is_ready":    flag("Nothing blocks it."),
			"findings":    findings(),
		},
	}
}

func (d *prerequisites) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	state := struct {
		InstanceID types.String  `tfsdk:"instance_id"`
		IsReady    bool          `tfsdk:"is_ready"`
		Findings   []findingItem `tfsdk:"findings"`
	}{}
	var id types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, rootInstance, &id)...)
	found, err := api.Read[api.Prerequisites](d.InstancesPrerequisites(ctx, id.ValueString()))
	state.InstanceID, state.IsReady, state.Findings = id, found.IsReady, findingItems(found.Findings)
	conclude(ctx, resp, err, &state, orSubject(roots()))
}
