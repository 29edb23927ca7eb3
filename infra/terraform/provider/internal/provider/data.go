package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// Shared by the data sources: rows of facts, findings, and the diagnostic of a failed read.

var (
	rootInstance   = path.Root("instance_id")
	rootParameters = path.Root("parameters")
	rootTemplate   = path.Root("template")
)

func conclude(ctx context.Context, resp *datasource.ReadResponse, err error, state any, at locate) {
	if err != nil {
		addError(&resp.Diagnostics, "This cannot be read", err, at)
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

func number(words string) schema.Attribute {
	return schema.Float64Attribute{Computed: true, MarkdownDescription: words}
}

func flag(words string) schema.Attribute {
	return schema.BoolAttribute{Computed: true, MarkdownDescription: words}
}

type findingItem struct {
	Severity   string   `tfsdk:"severity"`
	Code       string   `tfsdk:"code"`
	Parameter  string   `tfsdk:"parameter"`
	Seen       string   `tfsdk:"seen"`
	Needed     string   `tfsdk:"needed"`
	Remedy     string   `tfsdk:"remedy"`
	Nearest    *string  `tfsdk:"nearest"`
	Statements []string `tfsdk:"statements"`
}

func findings() schema.Attribute {
	return items(map[string]schema.Attribute{
		"severity": text("`blocking`, `advice` or `notice`."), "code": text("Stable, unlike the sentences."), "parameter": text(""),
		"seen": text(""), "needed": text(""), "remedy": text("What mends it."), "nearest": text("A value that would fit."),
		"statements": schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What to run on the server, such as a `GRANT` of a missing privilege."},
	})
}

func findingItems(found []api.InstanceFinding) []findingItem {
	rows := []findingItem{}
	for _, it := range found {
		statements := []string{}
		if it.Action != nil {
			statements = it.Action.Statements
		}
		rows = append(rows, findingItem{string(it.Severity), it.Code, it.Parameter, it.Seen, it.Needed, it.Remedy, it.Nearest, statements})
	}
	return rows
}
