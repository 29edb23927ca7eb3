package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// forgottenAfter is the lifetime of a token, for a run that was killed before it could revoke the token.
const forgottenAfter = 24 * time.Hour

func newEphemeralToken() ephemeral.EphemeralResource { return &ephemeralToken{} }

type ephemeralToken struct{ opened }

type ephemeralTokenModel struct {
	Name  types.String `tfsdk:"name"`
	Scope types.String `tfsdk:"scope"`
	Token types.String `tfsdk:"token"`
}

func (r *ephemeralToken) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "fqc_api_token"
}

func (r *ephemeralToken) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A token for the duration of a run: created when it is needed, revoked at the end, in neither plan nor state.",
		Attributes: map[string]schema.Attribute{
			"name":  schema.StringAttribute{Required: true},
			"scope": schema.StringAttribute{Required: true, Validators: scopes, MarkdownDescription: "`viewer`, `operator` or `admin`."},
			"token": schema.StringAttribute{Computed: true, Sensitive: true},
		},
	}
}

func (r *ephemeralToken) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var given ephemeralTokenModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &given)...)
	if resp.Diagnostics.HasError() {
		return
	}
	body := map[string]any{"name": given.Name.ValueString(), "scope": given.Scope.ValueString(), "expires_at": time.Now().Add(forgottenAfter)}
	made, err := api.Read[api.TokenCreated](r.TokensCreateWithBody(ctx, nil, api.JSON, api.Body(body)))
	if err != nil {
		addError(&resp.Diagnostics, "The token was not made", err, roots("name", "scope"))
		return
	}
	given.Token = types.StringValue(made.Token)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "id", []byte(`"`+made.Id+`"`))...)
	resp.Diagnostics.Append(resp.Result.Set(ctx, &given)...)
}

func (r *ephemeralToken) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	id, found := req.Private.GetKey(ctx, "id")
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	if _, err := api.Read[struct{}](r.TokensDestroy(ctx, string(id[1:len(id)-1]))); err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The token was not revoked", err.Error()+" It expires within a day.")
	}
}
