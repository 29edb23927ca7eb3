package provider

import (
	"context"
	"net/url"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// Read takes what is configured, byte for byte, and not what runs: servers round values. A change that waits for its
// window counts as made, since a second plan would otherwise ask for it again.
func (r *instanceParameters) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state parametersModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := r.listed(ctx, state.InstanceID.ValueString())
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
	resp.Diagnostics.Append(state.take(found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

// derive fills in what follows from the parameters that were just set.
func (r *instanceParameters) derive(ctx context.Context, m *parametersModel, diags *diag.Diagnostics) {
	found, err := r.listed(ctx, m.InstanceID.ValueString())
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

func (r *instanceParameters) listed(ctx context.Context, instance string) (map[string]api.InstanceParameter, error) {
	at := "instances/" + url.PathEscape(instance)
	found, err := api.Get[api.InstanceParameters](ctx, r.Client, at+"/parameters")
	if err != nil {
		return nil, err
	}
	named := map[string]api.InstanceParameter{}
	for _, parameter := range found.Items {
		named[parameter.Name] = parameter
	}
	lines, err := r.scheduled(ctx, at)
	for _, line := range lines {
		parameter := named[line.Name]
		parameter.Configured, parameter.Resolved = line.NewSubmitted, line.NewValue
		named[line.Name] = parameter
	}
	return named, err
}

// scheduled are the lines of approved change sets that wait for their time, oldest first.
func (r *instanceParameters) scheduled(ctx context.Context, at string) ([]api.ChangeLine, error) {
	owner, err := api.Get[api.Instance](ctx, r.Client, at)
	if err != nil {
		return nil, err
	}
	query := url.Values{"instance": {owner.Id}, "state": {string(api.ChangeStateApproved)}}
	waiting, err := api.List[api.ChangeSummary](ctx, r.Client, "changes", query)
	lines := []api.ChangeLine{}
	for position := len(waiting) - 1; err == nil && position >= 0; position-- {
		var change api.Change
		change, err = api.Get[api.Change](ctx, r.Client, "changes/"+waiting[position].Id)
		lines = append(lines, change.Lines...)
	}
	return lines, err
}
