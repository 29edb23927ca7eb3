package provider

import (
	"context"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// What can be chosen from: classes, parameters and templates.

func newInstanceClasses() datasource.DataSource { return &instanceClasses{} }
func newParameters() datasource.DataSource      { return &parameters{} }
func newTemplates() datasource.DataSource       { return &templates{} }

type (
	instanceClasses struct{ readable }
	parameters      struct{ readable }
	templates       struct{ readable }
)

type classItem struct {
	Name               string         `tfsdk:"name"`
	CPUCount           int            `tfsdk:"cpu_count"`
	MemoryBytes        int            `tfsdk:"memory_bytes"`
	MemoryReserveBytes int            `tfsdk:"memory_reserve_bytes"`
	MaxConnections     int            `tfsdk:"max_connections"`
	StorageBytes       int            `tfsdk:"storage_bytes"`
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
			"variables": schema.MapAttribute{Computed: true, ElementType: types.Int64Type, MarkdownDescription: "What expressions may name; as `provider::fqc::evaluate` takes it."},
		})},
	}
}

func (d *instanceClasses) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	found, err := api.List[api.InstanceClass](ctx, d.Client, "instance-classes", nil)
	rows := []classItem{}
	for _, it := range found {
		rows = append(rows, classItem{it.Name, it.CpuCount, it.MemoryBytes, it.MemoryReserveBytes, it.MaxConnections, it.StorageBytes, it.Variables})
	}
	state := struct {
		Items []classItem `tfsdk:"items"`
	}{rows}
	conclude(ctx, resp, err, &state)
}

type parameterItem struct {
	Name         string  `tfsdk:"name"`
	Type         string  `tfsdk:"type"`
	Unit         string  `tfsdk:"unit"`
	Default      *string `tfsdk:"default"`
	Allowed      string  `tfsdk:"allowed"`
	Divisor      int     `tfsdk:"divisor"`
	IsModifiable bool    `tfsdk:"is_modifiable"`
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
				"divisor": count("Values are multiples of it."), "is_modifiable": flag(""), "needs_restart": flag(""), "description": text(""),
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
	query := url.Values{"search": {state.Search.ValueString()}, "engine_line": {"5.7"}}
	if line := state.EngineLine.ValueString(); line != "" {
		query.Set("engine_line", line)
	}
	found, err := api.Get[api.ParameterList](ctx, d.Client, "parameters?"+query.Encode())
	state.Items = []parameterItem{}
	for _, it := range found.Items {
		state.Items = append(state.Items, parameterItem{it.Name, string(it.Type), it.Unit, it.Default, it.Allowed.Notation, it.Divisor, it.IsModifiable, it.NeedsRestart, it.Description})
	}
	conclude(ctx, resp, err, &state)
}

type templateItem struct {
	ID          string `tfsdk:"id"`
	Name        string `tfsdk:"name"`
	Description string `tfsdk:"description"`
	EngineLine  string `tfsdk:"engine_line"`
	IsSystem    bool   `tfsdk:"is_system"`
	Version     int    `tfsdk:"version"`
}

func (d *templates) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_templates"
}

func (d *templates) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Every parameter template, those that ship included.",
		Attributes: map[string]schema.Attribute{"items": items(map[string]schema.Attribute{
			"id": text(""), "name": text(""), "description": text(""), "engine_line": text(""), "is_system": flag("Ships with the product."), "version": count(""),
		})},
	}
}

func (d *templates) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	found, err := api.List[api.Template](ctx, d.Client, "templates", nil)
	rows := []templateItem{}
	for _, it := range found {
		rows = append(rows, templateItem{it.Id, it.Name, it.Description, it.EngineLine, it.IsSystem, it.Version})
	}
	state := struct {
		Items []templateItem `tfsdk:"items"`
	}{rows}
	conclude(ctx, resp, err, &state)
}

func conclude(ctx context.Context, resp *datasource.ReadResponse, err error, state any) {
	if err != nil {
		resp.Diagnostics = append(resp.Diagnostics, diag.NewErrorDiagnostic("This cannot be read", err.Error()))
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

func items(of map[string]schema.Attribute) schema.Attribute {
	return schema.ListNestedAttribute{Computed: true, NestedObject: schema.NestedAttributeObject{Attributes: of}}
}

func text(words string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: words}
}

func count(words string) schema.Attribute {
	return schema.Int64Attribute{Computed: true, MarkdownDescription: words}
}

func flag(words string) schema.Attribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: words}
}
