package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newNearCaches() datasource.DataSource { return &nearCaches{} }

type nearCaches struct{ readable }

type nearCacheItem struct {
	Name          string  `tfsdk:"name"`
	Address       string  `tfsdk:"address"`
	Source        string  `tfsdk:"source"`
	Mode          string  `tfsdk:"mode"`
	State         string  `tfsdk:"state"`
	Obstacle      string  `tfsdk:"obstacle"`
	Version       string  `tfsdk:"version"`
	Server        string  `tfsdk:"server"`
	Protocol      int     `tfsdk:"protocol"`
	LeaseMs       float64 `tfsdk:"lease_ms"`
	LagMs         float64 `tfsdk:"lag_ms"`
	Entries       int     `tfsdk:"entries"`
	StoredBytes   int     `tfsdk:"stored_bytes"`
	Hits          int     `tfsdk:"hits"`
	Misses        int     `tfsdk:"misses"`
	WritersWaited int     `tfsdk:"writers_waited"`
	WaitedMs      float64 `tfsdk:"waited_ms"`
}

func (d *nearCaches) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "fqc_near_caches"
}

func (d *nearCaches) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The near caches of an instance, that is, caches next to the application, as of the newest poll or report.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{Required: true},
			"items": items(map[string]schema.Attribute{
				"name": text(""), "address": text("Where it connects from."),
				"source":   text("`attached`: the server's plugin tells of it. `reporting`: it reports to the control plane itself."),
				"mode":     text("`exact`, `bounded` (by the server's binary log) or `rules`."),
				"state":    text("`serving`, `waiting` (without a lease, or with an obstacle) or `detached`, which stays in the list for a day."),
				"obstacle": text("Why one that reports serves nothing."),
				"version":  text("Of the program, if it reports."), "server": text("What it calls its server, if it reports."),
				"protocol": count("The version that it speaks; 0 if it reports."), "lease_ms": number("What was left of its lease."),
				"lag_ms": number("How long its last acknowledgement took."), "entries": count(""), "stored_bytes": count(""),
				"hits": count(""), "misses": count(""), "writers_waited": count("Writers that have waited for it."),
				"waited_ms": number("How long they waited together."),
			}),
		},
	}
}

func (d *nearCaches) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	state := struct {
		InstanceID types.String    `tfsdk:"instance_id"`
		Items      []nearCacheItem `tfsdk:"items"`
	}{Items: []nearCacheItem{}}
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, rootInstance, &state.InstanceID)...)
	found, err := api.List[api.NearCache](func(cursor *string) (*http.Response, error) {
		return d.InstancesNearCachesList(ctx, state.InstanceID.ValueString(), &api.InstancesNearCachesListParams{Cursor: cursor})
	})
	for _, it := range found {
		state.Items = append(state.Items, nearCacheItem{
			it.Name, it.Address, string(it.Source), string(it.Mode), string(it.State), it.Obstacle, it.Version, it.Server, it.Protocol, it.LeaseMs, it.LagMs, it.Entries, it.StoredBytes, it.Hits, it.Misses,
			it.WritersWaited, it.WaitedMs,
		})
	}
	conclude(ctx, resp, err, &state, orSubject(roots()))
}
