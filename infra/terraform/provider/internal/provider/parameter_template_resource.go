package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newParameterTemplate() resource.Resource { return &parameterTemplate{} }

type parameterTemplate struct{ connected }

type templateModel struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
	EngineLine  types.String `tfsdk:"engine_line"`
	Values      types.Map    `tfsdk:"values"`
	Version     types.Int64  `tfsdk:"version"`
}

func (r *parameterTemplate) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_parameter_template"
}

func (r *parameterTemplate) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A versioned set of parameter values. Instances that were given it keep their values when it changes.",
		Attributes: map[string]schema.Attribute{
			"id":          schema.StringAttribute{Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
			"name":        schema.StringAttribute{Required: true},
			"description": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("")},
			"engine_line": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "As `fqc_versions` lists it; absent: the line of most instances when the template is created.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplaceIfConfigured()},
			},
			"values":  schema.MapAttribute{Required: true, ElementType: types.StringType, MarkdownDescription: "All of them: what is not here is removed. Expressions are kept byte for byte."},
			"version": schema.Int64Attribute{Computed: true, MarkdownDescription: "Increases with every change."},
		},
	}
}

func (m *templateModel) values(ctx context.Context, diags *diag.Diagnostics) map[string]string {
	found := map[string]string{}
	diags.Append(m.Values.ElementsAs(ctx, &found, false)...)
	return found
}

func (m *templateModel) take(ctx context.Context, found api.TemplateDetail) diag.Diagnostics {
	m.ID, m.Name = types.StringValue(found.Id), types.StringValue(found.Name)
	m.Description, m.EngineLine = types.StringValue(found.Description), types.StringValue(found.EngineLine)
	m.Version = types.Int64Value(int64(found.Version))
	var diags diag.Diagnostics
	m.Values, diags = types.MapValueFrom(ctx, types.StringType, found.Values)
	return diags
}

func templateFields(values map[string]string) locate {
	return either(keys("values", values), roots("name", "description", "engine_line", "values"))
}

func (r *parameterTemplate) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan templateModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	values := plan.values(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	body := map[string]any{
		"name": plan.Name.ValueString(), "description": plan.Description.ValueString(),
		"values": values, "note": r.note,
	}
	if !plan.EngineLine.IsUnknown() {
		body["engine_line"] = plan.EngineLine.ValueString()
	}
	made, err := api.Read[api.TemplateDetail](r.TemplatesCreateWithBody(ctx, nil, api.JSON, api.Body(body)))
	if err != nil {
		addError(&resp.Diagnostics, "The template was not made", err, templateFields(values))
		return
	}
	resp.Diagnostics.Append(plan.take(ctx, made)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *parameterTemplate) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state templateModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := api.Read[api.TemplateDetail](r.TemplatesRetrieve(ctx, state.ID.ValueString()))
	if api.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("The template cannot be read", err.Error())
		return
	}
	resp.Diagnostics.Append(state.take(ctx, found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *parameterTemplate) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state templateModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	values := plan.values(ctx, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	body := map[string]any{"name": plan.Name.ValueString(), "description": plan.Description.ValueString(), "note": r.note}
	if !plan.Values.Equal(state.Values) {
		body["values"], body["mode"] = values, "overwrite"
	}
	id := state.ID.ValueString()
	now, err := api.Read[api.TemplateDetail](r.TemplatesRetrieve(ctx, id))
	if err == nil {
		now, err = api.Read[api.TemplateDetail](r.TemplatesPartialUpdateWithBody(ctx, id, nil, api.JSON, api.Body(body), api.IfVersion(now.Version)))
	}
	if err != nil {
		addError(&resp.Diagnostics, "The template was not changed", err, templateFields(values))
		return
	}
	resp.Diagnostics.Append(plan.take(ctx, now)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *parameterTemplate) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state templateModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	id := state.ID.ValueString()
	now, err := api.Read[api.TemplateDetail](r.TemplatesRetrieve(ctx, id))
	if err == nil {
		_, err = api.Read[struct{}](r.TemplatesDestroy(ctx, id, nil, api.IfVersion(now.Version)))
	}
	if err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The template was not deleted", err.Error())
	}
}

func (r *parameterTemplate) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
