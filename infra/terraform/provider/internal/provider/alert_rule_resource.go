package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newAlertRule() resource.Resource { return &alertRule{} }

type alertRule struct{ connected }

type alertRuleModel struct {
	ID              types.String  `tfsdk:"id"`
	Name            types.String  `tfsdk:"name"`
	Description     types.String  `tfsdk:"description"`
	Metric          types.String  `tfsdk:"metric"`
	Comparison      types.String  `tfsdk:"comparison"`
	Threshold       types.Float64 `tfsdk:"threshold"`
	ForSeconds      types.Int64   `tfsdk:"for_seconds"`
	MinimumTraffic  types.Float64 `tfsdk:"minimum_traffic"`
	ReminderSeconds types.Int64   `tfsdk:"reminder_seconds"`
	Severity        types.String  `tfsdk:"severity"`
	Tags            types.Map     `tfsdk:"tags"`
	InstanceID      types.String  `tfsdk:"instance_id"`
	Recipients      types.List    `tfsdk:"recipients"`
	IsEnabled       types.Bool    `tfsdk:"is_enabled"`
	Formula         types.String  `tfsdk:"formula"`
}

func (r *alertRule) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_alert_rule"
}

func (r *alertRule) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "When to open an incident. The rule watches one instance (`instance_id`), the instances that have all of the `tags`, or without either the whole fleet.",
		Attributes: map[string]schema.Attribute{
			"id":               schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
			"name":             schema.StringAttribute{Required: true},
			"description":      schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("")},
			"metric":           schema.StringAttribute{Required: true, MarkdownDescription: "`fqc metrics list` names them, with their formulas."},
			"comparison":       schema.StringAttribute{Required: true, MarkdownDescription: "`lt`, `le`, `gt` or `ge`.", Validators: []validator.String{stringvalidator.OneOf("lt", "le", "gt", "ge")}},
			"threshold":        schema.Float64Attribute{Required: true, MarkdownDescription: "In the metric's unit; ratios are in percent."},
			"for_seconds":      schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(600), MarkdownDescription: "How long the condition must hold."},
			"minimum_traffic":  schema.Float64Attribute{Optional: true, Computed: true, Default: float64default.StaticFloat64(0), MarkdownDescription: "Instances with less traffic are not judged."},
			"reminder_seconds": schema.Int64Attribute{Optional: true, Computed: true, Default: int64default.StaticInt64(14400)},
			"severity":         schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("warning"), Validators: []validator.String{stringvalidator.OneOf("warning", "critical")}},
			"tags":             schema.MapAttribute{Optional: true, Computed: true, ElementType: types.StringType, Default: mapdefault.StaticValue(types.MapValueMust(types.StringType, nil))},
			"instance_id":      schema.StringAttribute{Optional: true, Validators: []validator.String{stringvalidator.ConflictsWith(path.MatchRoot("tags"))}},
			"recipients":       schema.ListAttribute{Optional: true, Computed: true, ElementType: types.StringType, Default: listdefault.StaticValue(types.ListValueMust(types.StringType, nil))},
			"is_enabled":       schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(true)},
			"formula":          schema.StringAttribute{Computed: true, MarkdownDescription: "How the metric is calculated."},
		},
	}
}

var alertFields = roots("name", "description", "metric", "comparison", "threshold", "for_seconds", "minimum_traffic", "reminder_seconds", "severity", "tags", "instance_id", "recipients")

func (m *alertRuleModel) request(ctx context.Context, diags *diag.Diagnostics) map[string]any {
	tags, recipients := map[string]string{}, []string{}
	diags.Append(m.Tags.ElementsAs(ctx, &tags, false)...)
	diags.Append(m.Recipients.ElementsAs(ctx, &recipients, false)...)
	body := map[string]any{
		"name": m.Name.ValueString(), "description": m.Description.ValueString(), "metric": m.Metric.ValueString(),
		"comparison": m.Comparison.ValueString(), "threshold": m.Threshold.ValueFloat64(), "for_seconds": m.ForSeconds.ValueInt64(),
		"minimum_traffic": m.MinimumTraffic.ValueFloat64(), "reminder_seconds": m.ReminderSeconds.ValueInt64(),
		"severity": m.Severity.ValueString(), "scope": "all", "recipients": recipients, "is_enabled": m.IsEnabled.ValueBool(),
	}
	if len(tags) > 0 {
		body["scope"], body["tags"] = "tags", tags
	}
	if !m.InstanceID.IsNull() {
		body["scope"], body["instance_id"] = "instance", m.InstanceID.ValueString()
	}
	return body
}

func (m *alertRuleModel) take(ctx context.Context, found api.AlertRule) diag.Diagnostics {
	m.ID, m.Name, m.Description = types.StringValue(found.Id), types.StringValue(found.Name), types.StringValue(found.Description)
	m.Metric, m.Comparison = types.StringValue(found.Metric), types.StringValue(string(found.Comparison))
	m.Threshold, m.MinimumTraffic = types.Float64Value(found.Threshold), types.Float64Value(found.MinimumTraffic)
	m.ForSeconds, m.ReminderSeconds = types.Int64Value(int64(found.ForSeconds)), types.Int64Value(int64(found.ReminderSeconds))
	m.Severity, m.IsEnabled = types.StringValue(string(found.Severity)), types.BoolValue(found.IsEnabled)
	m.InstanceID, m.Formula = types.StringPointerValue(found.InstanceId), types.StringValue(found.Formula)
	var tagged, mailed diag.Diagnostics
	m.Tags, tagged = types.MapValueFrom(ctx, types.StringType, found.Tags)
	m.Recipients, mailed = types.ListValueFrom(ctx, types.StringType, found.Recipients)
	return append(tagged, mailed...)
}

func (r *alertRule) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan alertRuleModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	body := plan.request(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	made, err := api.Read[api.AlertRule](r.AlertRulesCreateWithBody(ctx, nil, api.JSON, api.Body(body)))
	if err != nil {
		addError(&resp.Diagnostics, "The alert rule was not made", err, alertFields)
		return
	}
	resp.Diagnostics.Append(plan.take(ctx, made)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *alertRule) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state alertRuleModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := api.Read[api.AlertRule](r.AlertRulesRetrieve(ctx, state.ID.ValueString()))
	if api.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("The alert rule cannot be read", err.Error())
		return
	}
	resp.Diagnostics.Append(state.take(ctx, found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// Update replaces the rule. Exceptions for single instances, which the configuration does not have, are kept.
func (r *alertRule) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state alertRuleModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	body := plan.request(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	now, err := api.Read[api.AlertRule](r.AlertRulesRetrieve(ctx, id))
	if err == nil {
		body["overrides"] = now.Overrides
		now, err = api.Read[api.AlertRule](r.AlertRulesUpdateWithBody(ctx, id, nil, api.JSON, api.Body(body), api.IfVersion(now.Version)))
	}
	if err != nil {
		addError(&resp.Diagnostics, "The alert rule was not changed", err, alertFields)
		return
	}
	resp.Diagnostics.Append(plan.take(ctx, now)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *alertRule) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state alertRuleModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	now, err := api.Read[api.AlertRule](r.AlertRulesRetrieve(ctx, id))
	if err == nil {
		_, err = api.Read[struct{}](r.AlertRulesDestroy(ctx, id, nil, api.IfVersion(now.Version)))
	}
	if err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The alert rule was not deleted", err.Error())
	}
}

func (r *alertRule) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
