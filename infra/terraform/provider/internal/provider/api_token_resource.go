package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newAPIToken() resource.Resource { return &apiToken{} }

type apiToken struct{ connected }

type tokenModel struct {
	ID        types.String `tfsdk:"id"`
	Name      types.String `tfsdk:"name"`
	Scope     types.String `tfsdk:"scope"`
	ExpiresAt types.String `tfsdk:"expires_at"`
	Token     types.String `tfsdk:"token"`
}

var scopes = []validator.String{stringvalidator.OneOf(string(api.RoleViewer), string(api.RoleOperator), string(api.RoleAdmin))}

func (r *apiToken) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_api_token"
}

func (r *apiToken) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	fixed := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	kept := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A token that outlives the run. Its secret is in state, so keep the state safe; for the duration of a run use the ephemeral resource of the same name. It cannot be imported, since its secret is shown once.",
		Attributes: map[string]schema.Attribute{
			"id":    schema.StringAttribute{Computed: true, PlanModifiers: kept},
			"name":  schema.StringAttribute{Required: true, PlanModifiers: fixed},
			"scope": schema.StringAttribute{Required: true, PlanModifiers: fixed, Validators: scopes, MarkdownDescription: "`viewer`, `operator` or `admin`; at most that of the provider's own token."},
			"expires_at": schema.StringAttribute{
				Optional: true, Computed: true, MarkdownDescription: "A time with its zone, such as `2027-01-31T00:00:00Z`. Default: in 90 days.",
				PlanModifiers: append(kept, stringplanmodifier.RequiresReplaceIfConfigured()),
			},
			"token": schema.StringAttribute{Computed: true, Sensitive: true, PlanModifiers: kept},
		},
	}
}

func (r *apiToken) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan tokenModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	body := map[string]any{"name": plan.Name.ValueString(), "scope": plan.Scope.ValueString()}
	if !plan.ExpiresAt.IsUnknown() {
		body["expires_at"] = plan.ExpiresAt.ValueString()
	}
	made, err := api.Read[api.TokenCreated](r.TokensCreateWithBody(ctx, nil, api.JSON, api.Body(body)))
	if err != nil {
		addError(&resp.Diagnostics, "The token was not made", err, roots("name", "scope", "expires_at"))
		return
	}
	plan.ID, plan.Token = types.StringValue(made.Id), types.StringValue(made.Token)
	if plan.ExpiresAt.IsUnknown() {
		plan.ExpiresAt = types.StringValue(made.ExpiresAt.Format(time.RFC3339))
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

// Read removes a token from the state that was revoked or has expired, so that the next plan creates another one.
func (r *apiToken) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state tokenModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := api.Read[api.Token](r.TokensRetrieve(ctx, state.ID.ValueString()))
	if api.IsNotFound(err) || (err == nil && found.ExpiresAt.Before(time.Now())) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("The token cannot be read", err.Error())
	}
}

// Update does nothing. Terraform never calls it, since a change of any attribute replaces the token.
func (r *apiToken) Update(context.Context, resource.UpdateRequest, *resource.UpdateResponse) {}

func (r *apiToken) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state tokenModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	_, err := api.Read[struct{}](r.TokensDestroy(ctx, state.ID.ValueString()))
	if err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The token was not revoked", err.Error())
	}
}
