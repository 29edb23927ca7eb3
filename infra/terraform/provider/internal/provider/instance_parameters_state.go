package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// Read takes the configured values, exactly as they were submitted, and not those that the server runs, which may be
// rounded.
func (r *instanceParameters) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state parametersModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := r.configured(ctx, state.InstanceID.ValueString())
	if api.IsNotFound(err) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("The parameters cannot be read", err.Error())
		return
	}
	submitted := map[string]string{}
	for name, parameter := range found {
		_, isOurs := state.Parameters.Elements()[name]
		if parameter.Configured != nil && (isOurs || state.Parameters.IsNull()) { // null: an import takes them all
			submitted[name] = *parameter.Configured
		}
	}
	values, diags := types.MapValueFrom(ctx, types.StringType, submitted)
	state.Parameters = values
	resp.Diagnostics.Append(diags...)
	if state.InstanceClass, err = r.classOf(ctx, state.InstanceID.ValueString()); err != nil {
		resp.Diagnostics.AddError("The instance's class cannot be read", err.Error())
		return
	}
	resp.Diagnostics.Append(state.take(found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// derive sets the computed attributes from the instance, after its parameters were set.
func (r *instanceParameters) derive(ctx context.Context, m *parametersModel, diags *diag.Diagnostics) {
	found, err := r.configured(ctx, m.InstanceID.ValueString())
	if err == nil && m.InstanceClass.IsUnknown() {
		m.InstanceClass, err = r.classOf(ctx, m.InstanceID.ValueString())
	}
	if err != nil {
		diags.AddError("The parameters were set and cannot be read", err.Error())
	}
	diags.Append(m.take(found)...)
}

func (m *parametersModel) take(found map[string]api.InstanceParameter) diag.Diagnostics {
	resolved, pending := map[string]attr.Value{}, []attr.Value{}
	for name := range m.Parameters.Elements() {
		parameter := found[name]
		resolved[name] = types.StringPointerValue(parameter.Resolved)
		if parameter.IsPendingRestart {
			pending = append(pending, types.StringValue(name))
		}
	}
	var first, second diag.Diagnostics
	m.Resolved, first = types.MapValue(types.StringType, resolved)
	m.PendingRestart, second = types.SetValue(types.StringType, pending)
	return append(first, second...)
}
