package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newCacheAdvice() datasource.DataSource { return &cacheAdvice{} }

type cacheAdvice struct{ readable }

func (d *cacheAdvice) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_cache_advice"
}

func (d *cacheAdvice) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Whether the fast query cache is worthwhile on an instance, from what its engine has observed or served.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{Required: true},
			"verdict":     text("`no_engine`, `no_engine_there`, `observe`, `observing`, `enable` or `do_not_enable`; once the cache is on, `keep` or `reconsider`."),
			"text":        text("The same in a sentence."),
			"hit_ratio":   number("From 0 to 1; null while nothing is known."),
			"saved_cores": number("Server time saved per second."),
			"size_bytes":  count("Where the predicted hit ratio stops rising."),
			"is_enough":   flag("Whether the sample is large enough."),
		},
	}
}

func (d *cacheAdvice) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	state := struct {
		InstanceID types.String `tfsdk:"instance_id"`
		Verdict    string       `tfsdk:"verdict"`
		Text       string       `tfsdk:"text"`
		HitRatio   *float64     `tfsdk:"hit_ratio"`
		SavedCores *float64     `tfsdk:"saved_cores"`
		SizeBytes  *int         `tfsdk:"size_bytes"`
		IsEnough   bool         `tfsdk:"is_enough"`
	}{}
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, rootInstance, &state.InstanceID)...)
	found, err := api.Read[api.CacheAdvice](d.InstancesCacheAdvice(ctx, state.InstanceID.ValueString()))
	advised := found.Recommendation
	state.Verdict, state.Text, state.IsEnough = string(advised.Verdict), advised.Text, advised.IsEnough
	state.HitRatio, state.SavedCores, state.SizeBytes = advised.HitRatio, advised.SavedCores, advised.SizeBytes
	conclude(ctx, resp, err, &state, orSubject(roots()))
}
