package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

type instanceModel struct {
	ID                types.String   `tfsdk:"id"`
	Name              types.String   `tfsdk:"name"`
	InstanceClass     types.String   `tfsdk:"instance_class"`
	Host              types.String   `tfsdk:"host"`
	Port              types.Int64    `tfsdk:"port"`
	Username          types.String   `tfsdk:"username"`
	Password          types.String   `tfsdk:"password"`
	PasswordVersion   types.Int64    `tfsdk:"password_version"`
	IsTLSRequired     types.Bool     `tfsdk:"is_tls_required"`
	TLSCA             types.String   `tfsdk:"tls_ca"`
	ProxyEnabled      types.Bool     `tfsdk:"proxy_enabled"`
	EngineLine        types.String   `tfsdk:"engine_line"`
	Product           types.String   `tfsdk:"product"`
	Edition           types.String   `tfsdk:"edition"`
	PublicKey         types.String   `tfsdk:"public_key"`
	Tags              types.Map      `tfsdk:"tags"`
	MaintenanceWindow types.Object   `tfsdk:"maintenance_window"`
	EngineVersion     types.String   `tfsdk:"engine_version"`
	FqcVersion        types.String   `tfsdk:"fqc_version"`
	MinorVersion      types.Int64    `tfsdk:"minor_version"`
	Timeouts          timeouts.Value `tfsdk:"timeouts"`
}

var windowTypes = map[string]attr.Type{"weekday": types.Int64Type, "start": types.StringType, "minutes": types.Int64Type}

// take sets the attributes from the API's instance. Host, port and account become null for a local server, since they
// are the control plane's own. The maintenance window stays null if the configuration has none.
func (m *instanceModel) take(found api.Instance) diag.Diagnostics {
	m.ID, m.Name = types.StringValue(found.Id), types.StringValue(found.Name)
	m.InstanceClass, m.EngineLine = types.StringValue(found.InstanceClass), types.StringValue(found.EngineLine)
	m.Product, m.Edition = types.StringValue(found.Product), types.StringValue(found.Edition)
	m.Host, m.Port, m.Username = types.StringNull(), types.Int64Null(), types.StringNull()
	if found.Provider == api.ProviderExternal {
		m.Host, m.Username = types.StringValue(found.Endpoint.Host), types.StringValue(found.Endpoint.Username)
		m.Port = types.Int64Value(int64(found.Endpoint.Port))
	}
	m.IsTLSRequired, m.ProxyEnabled = types.BoolValue(found.Endpoint.IsTlsRequired), types.BoolValue(found.ProxyEnabled)
	m.EngineVersion, m.FqcVersion = types.StringValue(found.EngineVersion), types.StringValue(found.FqcVersion)
	m.MinorVersion = integer(found.MinorVersion)
	var tagged, opened diag.Diagnostics
	m.Tags, tagged = types.MapValueFrom(context.Background(), types.StringType, found.Tags)
	if m.MaintenanceWindow.IsNull() {
		return tagged
	}
	window := found.MaintenanceWindow
	m.MaintenanceWindow, opened = types.ObjectValue(windowTypes, map[string]attr.Value{
		"weekday": integer(window.Weekday),
		"start":   types.StringValue(window.Start),
		"minutes": types.Int64Value(int64(window.Minutes)),
	})
	return append(tagged, opened...)
}

// createRequest returns the body of the request that registers the instance, or creates a local one if the plan has no
// host. The password is in the configuration only.
func createRequest(ctx context.Context, plan, config instanceModel) map[string]any {
	body := recorded(ctx, plan)
	body["instance_class"], body["engine_line"] = plan.InstanceClass.ValueString(), plan.EngineLine.ValueString()
	if !plan.Product.IsUnknown() && !plan.Product.IsNull() {
		body["product"] = plan.Product.ValueString()
	}
	body["provider"], body["proxy_enabled"] = api.ProviderLocal, plan.ProxyEnabled.ValueBool()
	if !plan.Host.IsUnknown() && !plan.Host.IsNull() {
		body["provider"], body["password"] = api.ProviderExternal, config.Password.ValueString()
		endpoint(body, plan)
		if _, given := body["port"]; !given {
			body["port"] = 3306
		}
	}
	return body
}

// updateRequest returns the body of the request that changes what the control plane stores about the instance; the
// server is not touched. It has the password if its version was changed, or if the plan's endpoint differs from now,
// the stored one: the API demands the password then.
func updateRequest(ctx context.Context, plan, state, config instanceModel, now api.Endpoint) map[string]any {
	body := recorded(ctx, plan)
	if !state.Host.IsNull() {
		endpoint(body, plan)
	}
	isMoved := moves(body, now) || !plan.PublicKey.Equal(state.PublicKey) || !plan.TLSCA.Equal(state.TLSCA)
	if (!plan.PasswordVersion.Equal(state.PasswordVersion) || isMoved) && !config.Password.IsNull() {
		body["password"] = config.Password.ValueString()
	}
	return body
}

// moves reports whether the body changes the address, the account or the use of TLS of the stored endpoint, now.
func moves(body map[string]any, now api.Endpoint) bool {
	kept := map[string]any{"host": now.Host, "port": int64(now.Port), "username": now.Username, "is_tls_required": now.IsTlsRequired}
	for name, value := range kept {
		if planned, given := body[name]; given && planned != value {
			return true
		}
	}
	return false
}

func recorded(ctx context.Context, plan instanceModel) map[string]any {
	tags := map[string]string{}
	plan.Tags.ElementsAs(ctx, &tags, false)
	body := map[string]any{"name": plan.Name.ValueString(), "tags": tags, "is_tls_required": plan.IsTLSRequired.ValueBool()}
	if !plan.MaintenanceWindow.IsNull() {
		window := struct {
			Weekday *int   `tfsdk:"weekday" json:"weekday"`
			Start   string `tfsdk:"start" json:"start"`
			Minutes int    `tfsdk:"minutes" json:"minutes"`
		}{}
		plan.MaintenanceWindow.As(ctx, &window, basetypes.ObjectAsOptions{})
		body["maintenance_window"] = window
	}
	return body
}

func endpoint(body map[string]any, plan instanceModel) {
	body["host"], body["username"] = plan.Host.ValueString(), plan.Username.ValueString()
	body["tls_ca"] = plan.TLSCA.ValueString()
	body["public_key"] = strings.TrimRight(plan.PublicKey.ValueString(), "\x00\n") // MySQL ends the file with a zero
	if !plan.Port.IsUnknown() && !plan.Port.IsNull() {
		body["port"] = plan.Port.ValueInt64()
	}
}
