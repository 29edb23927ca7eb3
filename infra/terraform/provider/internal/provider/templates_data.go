package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newTemplates() datasource.DataSource { return &templates{} }

type templates struct{ readable }

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
		MarkdownDescription: "Every parameter template, including the built-in ones.",
		Attributes: map[string]schema.Attribute{"items": items(map[string]schema.Attribute{
			"id": text(""), "name": text(""), "description": text(""), "engine_line": text(""), "is_system": flag("Ships with the product."), "version": count(""),
		})},
	}
}

func (d *templates) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	found, err := api.List[api.Template](func(cursor *string) (*http.Response, error) {
		return d.TemplatesList(ctx, &api.TemplatesListParams{Cursor: cursor})
	})
	rows := []templateItem{}
	for _, it := range found {
		rows = append(rows, templateItem{it.Id, it.Name, it.Description, it.EngineLine, it.IsSystem, it.Version})
	}
	state := struct {
		Items []templateItem `tfsdk:"items"`
	}{rows}
	conclude(ctx, resp, err, &state, roots())
}
