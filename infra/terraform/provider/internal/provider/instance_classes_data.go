package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newInstanceClasses() datasource.DataSource { return &instanceClasses{} }

type instanceClasses struct{ readable }

type classItem struct {
	Name               string         `tfsdk:"name"`
	CPUCount           int            `tfsdk:"cpu_count"`
	MemoryBytes        int            `tfsdk:"memory_bytes"`
	MemoryReserveBytes int            `tfsdk:"memory_reserve_bytes"`
	MaxConnections     int            `tfsdk:"max_connections"`
	StorageBytes       *int           `tfsdk:"storage_bytes"`
	Variables          map[string]int `tfsdk:"variables"`
}

func (d *instanceClasses) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_instance_classes"
}

func (d *instanceClasses) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Every instance class.",
		Attributes: map[string]schema.Attribute{"items": items(map[string]schema.Attribute{
			"name": text(""), "cpu_count": count(""), "memory_bytes": count(""), "memory_reserve_bytes": count("Kept from `DBInstanceClassMemory`."),
			"max_connections": count(""), "storage_bytes": count(""),
			"variables": schema.MapAttribute{Computed: true, ElementType: types.Int64Type, MarkdownDescription: "The variables that expressions can use, as `provider::fqc::evaluate` takes them."},
		})},
	}
}

func (d *instanceClasses) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	found, err := api.List[api.InstanceClass](func(cursor *string) (*http.Response, error) {
		return d.InstanceClassesList(ctx, &api.InstanceClassesListParams{Cursor: cursor})
	})
	rows := []classItem{}
	for _, it := range found {
		rows = append(rows, classItem{it.Name, it.CpuCount, it.MemoryBytes, it.MemoryReserveBytes, it.MaxConnections, it.StorageBytes, it.Variables})
	}
	state := struct {
		Items []classItem `tfsdk:"items"`
	}{rows}
	conclude(ctx, resp, err, &state, roots())
}
