package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newVersions() datasource.DataSource { return &versions{} }

type versions struct{ readable }

type lineVersion struct {
	ID             string `tfsdk:"id"`
	Product        string `tfsdk:"product"`
	Version        string `tfsdk:"version"`
	Source         string `tfsdk:"source"`
	ParameterCount int    `tfsdk:"parameter_count"`
}

type minorVersion struct {
	MinorVersion  int  `tfsdk:"minor_version"`
	IsAcceptable  bool `tfsdk:"is_acceptable"`
	IsOffered     bool `tfsdk:"is_offered"`
	InstanceCount int  `tfsdk:"instance_count"`
}

type versionsModel struct {
	EngineLines     []lineVersion  `tfsdk:"engine_lines"`
	MinorVersions   []minorVersion `tfsdk:"minor_versions"`
	Offered         types.Int64    `tfsdk:"offered"`
	LeastAcceptable int            `tfsdk:"least_acceptable"`
}

func (d *versions) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_versions"
}

func (d *versions) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The lines of servers whose parameters are known, and the minor versions of the cache engine.",
		Attributes: map[string]schema.Attribute{
			"engine_lines": items(map[string]schema.Attribute{
				"id": text("As `engine_line` takes it."), "product": text(""), "version": text(""),
				"source": text("`shipped`, or `server`: read from a running one."), "parameter_count": count(""),
			}),
			"minor_versions": items(map[string]schema.Attribute{
				"minor_version": count("A release date."), "is_acceptable": flag("Recent enough for the cache to be enabled."),
				"is_offered": flag("What an upgrade of a local instance leads to."), "instance_count": count("Instances that run it."),
			}),
			"offered":          count("What upgrades install; null if the control plane has no engine."),
			"least_acceptable": count("The cache needs this minor version or a later one."),
		},
	}
}

func (d *versions) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	state := versionsModel{EngineLines: []lineVersion{}, MinorVersions: []minorVersion{}}
	lines, err := api.Read[api.EngineLineList](d.EngineLinesList(ctx))
	for _, it := range lines.Items {
		state.EngineLines = append(state.EngineLines, lineVersion{it.Id, it.Product, it.Version, string(it.Source), it.ParameterCount})
	}
	if err != nil {
		conclude(ctx, resp, err, &state, roots())
		return
	}
	found, err := api.Read[api.MinorVersions](d.Operations.MinorVersions(ctx))
	for _, it := range found.Items {
		state.MinorVersions = append(state.MinorVersions, minorVersion{it.MinorVersion, it.IsAcceptable, it.IsOffered, it.InstanceCount})
	}
	state.Offered, state.LeastAcceptable = integer(found.Offered), found.LeastAcceptable
	conclude(ctx, resp, err, &state, roots())
}
