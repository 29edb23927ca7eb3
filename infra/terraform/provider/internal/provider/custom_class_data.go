package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newCustomClass() datasource.DataSource { return &customClass{} }

type customClass struct{ readable }

const defaultConnections = 151 // a server's own default

func (d *customClass) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_custom_class"
}

func (d *customClass) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The instance class of a machine of this size, for a server that no listed class describes. If there is none, it is created. The token's role must be `operator`.",
		Attributes: map[string]schema.Attribute{
			"memory_bytes":    schema.Int64Attribute{Required: true, MarkdownDescription: "Memory of the machine."},
			"cpu_count":       schema.Int64Attribute{Required: true},
			"max_connections": schema.Int64Attribute{Optional: true, MarkdownDescription: "151 by default."},
			"name":            text("For `instance_class` of an `fqc_instance`."),
		},
	}
}

func (d *customClass) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	state := struct {
		MemoryBytes    types.Int64 `tfsdk:"memory_bytes"`
		CPUCount       types.Int64 `tfsdk:"cpu_count"`
		MaxConnections types.Int64 `tfsdk:"max_connections"`
		Name           string      `tfsdk:"name"`
	}{}
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("memory_bytes"), &state.MemoryBytes)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("cpu_count"), &state.CPUCount)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("max_connections"), &state.MaxConnections)...)
	size := api.CustomSizeRequest{
		MemoryBytes: state.MemoryBytes.ValueInt64(), CpuCount: int(state.CPUCount.ValueInt64()), MaxConnections: defaultConnections,
	}
	if !state.MaxConnections.IsNull() {
		size.MaxConnections = int(state.MaxConnections.ValueInt64())
	}
	found, err := api.Read[api.InstanceClass](d.InstanceClassesCustomCreate(ctx, nil, size))
	state.Name = found.Name
	conclude(ctx, resp, err, &state, roots("memory_bytes", "cpu_count", "max_connections"))
}
