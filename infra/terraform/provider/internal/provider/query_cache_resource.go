package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newQueryCache() resource.Resource { return &queryCache{} }

type queryCache struct{ connected }

type queryCacheModel struct {
	InstanceID       types.String   `tfsdk:"instance_id"`
	Type             types.String   `tfsdk:"type"`
	Rule             types.String   `tfsdk:"rule"`
	SizeBytes        types.Int64    `tfsdk:"size_bytes"`
	ResultSetBytes   types.Int64    `tfsdk:"result_set_bytes"`
	ShrinkBufferPool types.Bool     `tfsdk:"shrink_buffer_pool"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
}

// cacheTypes has the API's number for each value of query_cache_type that enables the cache.
var cacheTypes = map[string]api.CacheType{"ON": 1, "DEMAND": 2}

func (r *queryCache) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_query_cache"
}

func (r *queryCache) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	explicit := int64validator.ConflictsWith(path.MatchRoot("rule"), path.MatchRoot("result_set_bytes"))
	resp.Schema = schema.Schema{
		MarkdownDescription: "The fast query cache of one instance. Its presence enables the cache, with all checks; its removal disables it and returns its memory to the buffer pool.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
			"type": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("ON"),
				MarkdownDescription: "`ON`, or `DEMAND` to cache only statements that say `SQL_CACHE`.",
				Validators:          []validator.String{stringvalidator.OneOf("ON", "DEMAND")},
			},
			"rule": schema.StringAttribute{
				Optional: true, MarkdownDescription: "How to choose the size: `buffer_pool` (default), `result_set` or `curve`. The size is chosen when the cache is enabled and when the rule changes.",
				Validators: []validator.String{stringvalidator.OneOf(string(api.SizeRuleBufferPool), string(api.SizeRuleResultSet), string(api.SizeRuleCurve))},
			},
			"size_bytes": schema.Int64Attribute{
				Optional: true, Computed: true, MarkdownDescription: "This size, instead of a rule. A multiple of 1024.",
				PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()}, Validators: []validator.Int64{explicit},
			},
			"result_set_bytes": schema.Int64Attribute{Optional: true, MarkdownDescription: "Total size of the results that are read repeatedly, for the rule `result_set`."},
			"shrink_buffer_pool": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Give the cache a tenth of the buffer pool when it is enabled. Set it to false if `innodb_buffer_pool_size` is managed elsewhere.",
			},
		},
		Blocks: map[string]schema.Block{"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true, Update: true, Delete: true})},
	}
}

// ModifyPlan previews the change, so that a failed prerequisite is an error of the plan that names its remedy.
func (r *queryCache) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.Connection == nil || req.Plan.Raw.IsNull() || req.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	var plan, state queryCacheModel
	isEnabled := !req.State.Raw.IsNull()
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if isEnabled {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if resp.Diagnostics.HasError() || plan.InstanceID.IsUnknown() || plan.ResultSetBytes.IsUnknown() || plan.Rule.IsUnknown() {
		return
	}
	if isEnabled && choosesAnew(ctx, plan, state, req) {
		plan.SizeBytes = types.Int64Unknown()
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("size_bytes"), plan.SizeBytes)...)
	}
	found, err := api.Read[api.ChangePreview](r.InstancesCachePreviewWithBody(ctx, plan.InstanceID.ValueString(), nil, api.JSON, api.Body(r.sizing(plan, isEnabled))))
	if err != nil {
		addError(&resp.Diagnostics, "The cache cannot be enabled", err, locateCache)
		return
	}
	addFindings(&resp.Diagnostics, found.Findings, locateCache)
}

func (r *queryCache) enable(ctx context.Context, plan *queryCacheModel, isEnabled bool) error {
	body := r.sizing(*plan, isEnabled)
	body["when"], body["note"] = r.when, r.note
	answer, failed := r.InstancesCacheEnableWithBody(ctx, plan.InstanceID.ValueString(), nil, api.JSON, api.Body(body))
	if err := r.applied(ctx, answer, failed); err != nil {
		return err
	}
	if plan.SizeBytes.IsUnknown() {
		size, err := r.size(ctx, *plan)
		plan.SizeBytes = size
		return err
	}
	return nil
}

func (r *queryCache) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan queryCacheModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	limit, found := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, plan.InstanceID.ValueString(), limit)
	defer end()
	if err := r.enable(ctx, &plan, false); err != nil {
		addError(&resp.Diagnostics, "The cache was not enabled", err, locateCache)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *queryCache) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan queryCacheModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	limit, found := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, plan.InstanceID.ValueString(), limit)
	defer end()
	if err := r.enable(ctx, &plan, true); err != nil {
		addError(&resp.Diagnostics, "The cache was not changed", err, locateCache)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read removes the resource from the state if the cache was disabled elsewhere, so that the next plan enables it again.
func (r *queryCache) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state queryCacheModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := r.configured(ctx, state.InstanceID.ValueString())
	kind := typeOf(found["query_cache_type"].Configured)
	if api.IsNotFound(err) || (err == nil && kind == "") {
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		state.SizeBytes, err = r.size(ctx, state)
	}
	if err != nil {
		resp.Diagnostics.AddError("The cache cannot be read", err.Error())
		return
	}
	state.Type = types.StringValue(kind)
	if state.ShrinkBufferPool.IsNull() { // an import
		state.ShrinkBufferPool = types.BoolValue(true)
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *queryCache) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state queryCacheModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	limit, found := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, state.InstanceID.ValueString(), limit)
	defer end()
	body := map[string]any{"when": r.when, "note": r.note, "restore_buffer_pool": state.ShrinkBufferPool.ValueBool()}
	answer, failed := r.InstancesCacheDisableWithBody(ctx, state.InstanceID.ValueString(), nil, api.JSON, api.Body(body))
	if err := r.applied(ctx, answer, failed); err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The cache was not disabled", err.Error())
	}
}

func (r *queryCache) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	importOfInstance(ctx, r.Connection, req, resp)
}
