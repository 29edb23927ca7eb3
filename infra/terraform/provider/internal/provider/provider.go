// Package provider maps the API's nouns to Terraform: one file per resource, data source or function.
//
// Conventions of all files: state contains what is configured, never how or when it was applied. Every change of an
// instance is a change set. A refusal becomes a diagnostic on the attribute at fault, with the fix.
package provider

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// Address is the source address of the provider in Terraform configurations.
const Address = "registry.terraform.io/fast-query-cache/fqc"

// defaultTimeout limits the wait for one change of one instance, including a restart, unless `timeouts` says otherwise.
const defaultTimeout = 10 * time.Minute

type fqcProvider struct{ version string }

// New returns the constructor of the provider, which plugin servers call. The version is that of the provider.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &fqcProvider{version} }
}

// Connection is shared by all resources: the API client, and how changes are to be applied.
type Connection struct {
	*api.Client
	when         api.When
	allowRestart bool
	note         string
	turns        sync.Map // of instances, by their id: who changes one now
}

type providerModel struct {
	URL          types.String `tfsdk:"url"`
	Token        types.String `tfsdk:"token"`
	When         types.String `tfsdk:"when"`
	AllowRestart types.Bool   `tfsdk:"allow_restart"`
	Note         types.String `tfsdk:"note"`
}

func (p *fqcProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "fqc", p.version
}

func (p *fqcProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages parameters and the fast query cache of a fleet. How changes are applied is configured here and never stored in state.",
		Attributes: map[string]schema.Attribute{
			"url":   schema.StringAttribute{Optional: true, MarkdownDescription: "Address of the control plane; or `FQC_URL`."},
			"token": schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "A token of scope operator or admin; or `FQC_TOKEN`."},
			"when": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "`now` (default), or `window`: changes are approved for each instance's maintenance window, and waited for only where it is open.",
				Validators:          []validator.String{stringvalidator.OneOf(string(api.WhenNow), string(api.WhenWindow))},
			},
			"allow_restart": schema.BoolAttribute{Optional: true, MarkdownDescription: "Restart servers when a static parameter needs it. Default: such parameters wait for a restart."},
			"note":          schema.StringAttribute{Optional: true, MarkdownDescription: "Kept with every change set. Default: `terraform`."},
		},
	}
}

func (p *fqcProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var given providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &given)...)
	address := stated(given.URL, "FQC_URL", path.Root("url"), &resp.Diagnostics)
	token := stated(given.Token, "FQC_TOKEN", path.Root("token"), &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	client, err := api.New(address, token, "terraform-provider-fqc/"+p.version)
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("url"), "No address", err.Error())
		return
	}
	connection := &Connection{Client: client, when: api.WhenNow, allowRestart: given.AllowRestart.ValueBool(), note: "terraform"}
	if when := given.When.ValueString(); when != "" {
		connection.when = api.When(when)
	}
	if note := given.Note.ValueString(); note != "" {
		connection.note = note
	}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = connection, connection, connection
}

func stated(given types.String, variable string, at path.Path, diags *diag.Diagnostics) string {
	if given.IsUnknown() {
		diags.AddAttributeError(at, "Not known yet", "This is known only after another apply. Apply that part first, or set "+variable+".")
		return ""
	}
	value := given.ValueString()
	if value == "" {
		value = os.Getenv(variable)
	}
	if value == "" {
		diags.AddAttributeError(at, "Missing", "Set it here or as "+variable+".")
	}
	return value
}

func (p *fqcProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		newInstance, newParameterTemplate, newInstanceParameters, newQueryCache, newAlertRule, newChannel, newAPIToken,
	}
}

func (p *fqcProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newInstanceClasses, newVersions, newParameters, newTemplates, newPrerequisites, newPreview, newNearCaches,
		newCacheAdvice, newCustomClass,
	}
}

func (p *fqcProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{newEphemeralToken}
}

func (p *fqcProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{newEvaluate, newValidate}
}
