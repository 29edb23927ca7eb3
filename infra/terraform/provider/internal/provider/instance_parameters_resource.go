package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newInstanceParameters() resource.Resource { return &instanceParameters{} }

type instanceParameters struct{ connected }

type parametersModel struct {
	InstanceID     types.String   `tfsdk:"instance_id"`
	Parameters     types.Map      `tfsdk:"parameters"`
	InstanceClass  types.String   `tfsdk:"instance_class"`
	Resolved       types.Map      `tfsdk:"resolved"`
	PendingRestart types.Set      `tfsdk:"pending_restart"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`
}

func (r *instanceParameters) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_instance_parameters"
}

func (r *instanceParameters) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Parameters of one instance, changed in one batch. A key that is removed is reset to its default; parameters that are not named are left alone.",
		Attributes: map[string]schema.Attribute{
			"instance_id": schema.StringAttribute{Required: true, PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
			"parameters": schema.MapAttribute{
				Required: true, ElementType: types.StringType, Validators: []validator.Map{mapvalidator.SizeAtLeast(1)},
				MarkdownDescription: "As submitted: literals, or expressions such as `{DBInstanceClassMemory*7/10}`.",
			},
			"instance_class": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "The class that expressions are resolved on. Write `fqc_instance.x.instance_class` here, and a resize brings `resolved` along in the same apply; without it, the next refresh does. It resizes nothing.",
			},
			"resolved":        schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "What each resolves to on the instance's class."},
			"pending_restart": schema.SetAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Those that take effect at the next restart."},
		},
		Blocks: map[string]schema.Block{"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true, Update: true, Delete: true})},
	}
}

// ModifyPlan previews the change, so that what the API would refuse is an error of the plan, before anything is
// changed.
func (r *instanceParameters) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.Connection == nil || req.Plan.Raw.IsNull() || req.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	var plan parametersModel
	var before types.Map
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("parameters"), &before)...)
	}
	if resp.Diagnostics.HasError() || plan.InstanceID.IsUnknown() || isUnknown(plan.Parameters) {
		return
	}
	wanted := batch(plan.Parameters, before)
	body := api.PreviewRequestRequest{Instance: plan.InstanceID.ValueString(), Parameters: &wanted, AllowRestart: &r.allowRestart}
	found, err := api.Read[api.ChangePreview](r.ChangesPreview(ctx, nil, body))
	if err != nil {
		addError(&resp.Diagnostics, "These parameters cannot be set", err, orSubject(keys("parameters", wanted)))
		return
	}
	addFindings(&resp.Diagnostics, found.Findings, keys("parameters", wanted))
}

func isUnknown(values types.Map) bool {
	for _, value := range values.Elements() {
		if value.IsUnknown() {
			return true
		}
	}
	return values.IsUnknown()
}

// batch returns the values to submit: all wanted ones, and nil, which resets a parameter, for those that are only in
// before.
func batch(wanted, before types.Map) map[string]*string {
	all := map[string]*string{}
	for name := range before.Elements() {
		all[name] = nil
	}
	for name, value := range wanted.Elements() {
		text := value.(types.String).ValueString()
		all[name] = &text
	}
	return all
}

func (r *instanceParameters) submit(ctx context.Context, instance string, wanted map[string]*string, diags *diag.Diagnostics) {
	body := struct {
		Parameters   map[string]*string `json:"parameters"`
		AllowRestart bool               `json:"allow_restart"`
		timing
	}{wanted, r.allowRestart, r.timing()}
	answer, failed := r.InstancesChangesCreateWithBody(ctx, instance, nil, api.JSON, api.Body(body))
	if err := r.applied(ctx, answer, failed); err != nil {
		addError(diags, "The parameters were not set", err, orSubject(keys("parameters", wanted)))
	}
}

func (r *instanceParameters) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan parametersModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	limit, found := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, plan.InstanceID.ValueString(), limit)
	defer end()
	r.submit(ctx, plan.InstanceID.ValueString(), batch(plan.Parameters, types.MapNull(types.StringType)), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	r.derive(ctx, &plan, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *instanceParameters) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state parametersModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	limit, found := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, plan.InstanceID.ValueString(), limit)
	defer end()
	r.submit(ctx, plan.InstanceID.ValueString(), batch(plan.Parameters, state.Parameters), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	r.derive(ctx, &plan, &resp.Diagnostics)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *instanceParameters) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state parametersModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	limit, found := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, state.InstanceID.ValueString(), limit)
	defer end()
	body := batch(types.MapNull(types.StringType), state.Parameters)
	if _, err := api.Read[api.Instance](r.InstancesRetrieve(ctx, state.InstanceID.ValueString())); api.IsNotFound(err) {
		return
	}
	r.submit(ctx, state.InstanceID.ValueString(), body, &resp.Diagnostics)
}

func (r *instanceParameters) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	importOfInstance(ctx, r.Connection, req, resp)
}
