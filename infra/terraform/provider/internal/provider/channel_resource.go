package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newChannel() resource.Resource { return &channel{} }

type channel struct{ connected }

type channelModel struct {
	ID            types.String `tfsdk:"id"`
	Name          types.String `tfsdk:"name"`
	Kind          types.String `tfsdk:"kind"`
	URL           types.String `tfsdk:"url"`
	Secret        types.String `tfsdk:"secret"`
	Recipients    types.List   `tfsdk:"recipients"`
	Tags          types.Map    `tfsdk:"tags"`
	LeastSeverity types.String `tfsdk:"least_severity"`
	IsEnabled     types.Bool   `tfsdk:"is_enabled"`
}

func (r *channel) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_channel"
}

func (r *channel) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Where incidents are sent. With `tags`, only those of instances that have all of them. The token's role must be `admin`.",
		Attributes: map[string]schema.Attribute{
			"id":   schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
			"name": schema.StringAttribute{Required: true},
			"kind": schema.StringAttribute{Required: true, MarkdownDescription: "`webhook`, `slack`, `pagerduty` or `mail`. Changing it replaces the channel.", PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}, Validators: []validator.String{stringvalidator.OneOf("webhook", "slack", "pagerduty", "mail")}},
			"url":  schema.StringAttribute{Optional: true, Computed: true, MarkdownDescription: "Address of a webhook; for PagerDuty only if it is not the default one."},
			"secret": schema.StringAttribute{Optional: true, Sensitive: true,
				MarkdownDescription: "Webhook: the signing key. Slack: the address of the incoming webhook. PagerDuty: the integration key. It is kept in the state."},
			"recipients":     schema.ListAttribute{Optional: true, Computed: true, ElementType: types.StringType, Default: listdefault.StaticValue(types.ListValueMust(types.StringType, nil)), MarkdownDescription: "Mail addresses, for `mail`."},
			"tags":           schema.MapAttribute{Optional: true, Computed: true, ElementType: types.StringType, Default: mapdefault.StaticValue(types.MapValueMust(types.StringType, nil))},
			"least_severity": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("warning"), MarkdownDescription: "`critical`: only critical incidents.", Validators: []validator.String{stringvalidator.OneOf("warning", "critical")}},
			"is_enabled":     schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true)},
		},
	}
}

var channelFields = roots("name", "kind", "url", "secret", "recipients", "tags", "least_severity")

func (m *channelModel) request(ctx context.Context, diags *diag.Diagnostics) map[string]any {
	tags, recipients := map[string]string{}, []string{}
	diags.Append(m.Tags.ElementsAs(ctx, &tags, false)...)
	diags.Append(m.Recipients.ElementsAs(ctx, &recipients, false)...)
	body := map[string]any{
		"name": m.Name.ValueString(), "kind": m.Kind.ValueString(), "url": m.URL.ValueString(), "recipients": recipients,
		"tags": tags, "least_severity": m.LeastSeverity.ValueString(), "is_enabled": m.IsEnabled.ValueBool(),
	}
	if !m.Secret.IsNull() {
		body["secret"] = m.Secret.ValueString()
	}
	return body
}

func (m *channelModel) take(ctx context.Context, found api.Channel) diag.Diagnostics {
	m.ID, m.Name, m.Kind = types.StringValue(found.Id), types.StringValue(found.Name), types.StringValue(string(found.Kind))
	m.URL, m.LeastSeverity = types.StringValue(found.Url), types.StringValue(string(found.LeastSeverity))
	m.IsEnabled = types.BoolValue(found.IsEnabled)
	var tagged, mailed diag.Diagnostics
	m.Tags, tagged = types.MapValueFrom(ctx, types.StringType, found.Tags)
	m.Recipients, mailed = types.ListValueFrom(ctx, types.StringType, found.Recipients)
	return append(tagged, mailed...)
}

func (r *channel) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan channelModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	body := plan.request(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	made, err := api.Read[api.Channel](r.ChannelsCreateWithBody(ctx, nil, api.JSON, api.Body(body)))
	if err != nil {
		addError(&resp.Diagnostics, "The channel was not made", err, channelFields)
		return
	}
	resp.Diagnostics.Append(plan.take(ctx, made)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *channel) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state channelModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := api.Read[api.Channel](r.ChannelsRetrieve(ctx, state.ID.ValueString()))
	if api.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("The channel cannot be read", err.Error())
		return
	}
	resp.Diagnostics.Append(state.take(ctx, found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update stores the channel. It always sends the secret, because the control plane demands it when the address changes.
func (r *channel) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state channelModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	body := plan.request(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	now, err := api.Read[api.Channel](r.ChannelsRetrieve(ctx, id))
	if err == nil {
		now, err = api.Read[api.Channel](r.ChannelsUpdateWithBody(ctx, id, nil, api.JSON, api.Body(body), api.IfVersion(now.Version)))
	}
	if err != nil {
		addError(&resp.Diagnostics, "The channel was not changed", err, channelFields)
		return
	}
	resp.Diagnostics.Append(plan.take(ctx, now)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *channel) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state channelModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	now, err := api.Read[api.Channel](r.ChannelsRetrieve(ctx, id))
	if err == nil {
		_, err = api.Read[struct{}](r.ChannelsDestroy(ctx, id, nil, api.IfVersion(now.Version)))
	}
	if err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The channel was not deleted", err.Error())
	}
}

func (r *channel) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
