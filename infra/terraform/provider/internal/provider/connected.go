package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// connected, readable and opened hold the provider's connection for resources, data sources and ephemeral resources. It
// is nil while Terraform only validates the configuration.
type (
	connected struct{ *Connection }
	readable  struct{ *Connection }
	opened    struct{ *Connection }
)

func (c *connected) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	c.Connection, _ = req.ProviderData.(*Connection)
}

func (c *readable) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	c.Connection, _ = req.ProviderData.(*Connection)
}

func (c *opened) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	c.Connection, _ = req.ProviderData.(*Connection)
}

// importOfInstance imports a resource of an instance by the instance's id or name. The state then holds the id, as
// `fqc_instance` has it.
func importOfInstance(ctx context.Context, c *Connection, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	found, err := api.Read[api.Instance](c.InstancesRetrieve(ctx, req.ID))
	if err != nil {
		resp.Diagnostics.AddError("There is nothing to import", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, rootInstance, found.Id)...)
}

// integer converts a number that the API may leave out; nil becomes null.
func integer(value *int) types.Int64 {
	if value == nil {
		return types.Int64Null()
	}
	return types.Int64Value(int64(*value))
}
