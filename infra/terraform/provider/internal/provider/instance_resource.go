package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func newInstance() resource.Resource { return &instanceResource{} }

type instanceResource struct{ connected }

func (r *instanceResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "fqc_instance"
}

func (r *instanceResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	kept := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A server of the fleet. With `host`, an existing server is registered; without it, the control plane creates and runs one.",
		Attributes: map[string]schema.Attribute{
			"id":             schema.StringAttribute{Computed: true, PlanModifiers: kept},
			"name":           schema.StringAttribute{Required: true},
			"instance_class": schema.StringAttribute{Required: true, MarkdownDescription: "Changing it resizes the instance: expressions are resolved again."},
			"host": schema.StringAttribute{
				Optional: true, Computed: true, MarkdownDescription: "Host of an existing server. Without it the control plane creates one.",
				PlanModifiers: append(kept, stringplanmodifier.RequiresReplaceIf(changesKind, "Between local and external", "Between local and external")),
				Validators:    []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("username"))},
			},
			"port": schema.Int64Attribute{
				Optional: true, Computed: true,
				PlanModifiers: []planmodifier.Int64{int64planmodifier.UseStateForUnknown()},
				Validators:    []validator.Int64{int64validator.Between(1, 65535), int64validator.AlsoRequires(path.MatchRoot("host"))},
			},
			"username": schema.StringAttribute{Optional: true, Computed: true, PlanModifiers: kept, MarkdownDescription: "Account that the control plane uses on that server."},
			"password": schema.StringAttribute{
				Optional: true, Sensitive: true, WriteOnly: true,
				MarkdownDescription: "Password of that account. Write-only: it is never in state. It is sent again when `password_version`, `host`, `port`, `username`, `is_tls_required`, `tls_ca` or `public_key` changes: the control plane gives the stored one to no other server.",
			},
			"password_version": schema.Int64Attribute{Optional: true, MarkdownDescription: "Raise it to send `password` again."},
			"is_tls_required":  schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false)},
			"tls_ca": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "CA certificate in PEM that signed the server's certificate. Default: the authorities that the control plane's machine trusts. It is used with `is_tls_required` alone.",
				Validators:          []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("host"))},
			},
			"proxy_enabled": schema.BoolAttribute{Optional: true, Computed: true, Default: booldefault.StaticBool(false), MarkdownDescription: "Whether clients reach it through a dedicated proxy; the cache requires that there is none."},
			"engine_line": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("5.7"),
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
			},
			"product": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "`MariaDB` or `MySQL`. Of a local server it may be chosen (default: `MariaDB`); any other server reports its own.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplaceIfConfigured()},
				Validators:          []validator.String{stringvalidator.OneOf("MariaDB", "MySQL"), stringvalidator.ConflictsWith(path.MatchRoot("host"))},
			},
			"edition": schema.StringAttribute{Computed: true, MarkdownDescription: "Who built the server or runs it, such as `Debian` or `Amazon RDS`, if known."},
			"public_key": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The server's own RSA key in PEM: with it, an account of `caching_sha2_password` logs in without TLS.",
				Validators:          []validator.String{stringvalidator.AlsoRequires(path.MatchRoot("host"))},
			},
			"tags": schema.MapAttribute{
				Optional: true, Computed: true, ElementType: types.StringType,
				Default: mapdefault.StaticValue(types.MapValueMust(types.StringType, nil)),
			},
			"maintenance_window": schema.SingleNestedAttribute{
				Optional: true, MarkdownDescription: "If it is absent, the window is left unchanged.",
				Attributes: map[string]schema.Attribute{
					"weekday": schema.Int64Attribute{Optional: true, MarkdownDescription: "0 is Monday; absent: every day.", Validators: []validator.Int64{int64validator.Between(0, 6)}},
					"start":   schema.StringAttribute{Required: true, MarkdownDescription: "`HH:MM`, UTC."},
					"minutes": schema.Int64Attribute{Required: true, Validators: []validator.Int64{int64validator.Between(15, 1440)}},
				},
			},
			"engine_version": schema.StringAttribute{Computed: true, MarkdownDescription: "Version of the server, as it reports it; empty until it was reached."},
			"fqc_version":    schema.StringAttribute{Computed: true, MarkdownDescription: "Version of the cache engine, such as `1.0.0`; empty without it."},
			"minor_version":  schema.Int64Attribute{Computed: true, MarkdownDescription: "Release date of the cache engine as a number, such as `20261120`; null without it."},
		},
		Blocks: map[string]schema.Block{"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true, Update: true, Delete: true})},
	}
}

func changesKind(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	var before types.String
	resp.Diagnostics.Append(req.State.GetAttribute(context.Background(), path.Root("username"), &before)...)
	resp.RequiresReplace = before.IsNull() != req.ConfigValue.IsNull()
}

var instanceFields = roots("name", "instance_class", "host", "port", "username", "password", "tags", "maintenance_window", "engine_line", "product", "public_key", "tls_ca", "is_tls_required", "proxy_enabled")

func (r *instanceResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan, config instanceModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	limit, found := plan.Timeouts.Create(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	made, err := api.Read[api.Instance](r.InstancesCreateWithBody(ctx, nil, api.JSON, api.Body(createRequest(ctx, plan, config))))
	if err != nil {
		addError(&resp.Diagnostics, "The instance was not made", err, instanceFields)
		return
	}
	// Known from here on, so that a failure below leaves a tainted resource and no orphan.
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("id"), made.Id)...)
	if made, err = r.ready(ctx, made.Id); err != nil {
		resp.Diagnostics.AddError("The instance is not ready", err.Error())
		return
	}
	resp.Diagnostics.Append(plan.take(made)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *instanceResource) ready(ctx context.Context, id string) (api.Instance, error) {
	for {
		found, err := api.Read[api.Instance](r.InstancesRetrieve(ctx, id))
		if err != nil || (found.State != api.InstanceStateCreating && found.State != api.InstanceStateFailed) {
			return found, err
		}
		if found.State == api.InstanceStateFailed {
			return found, fmt.Errorf("%s could not be created: %s. See its change set: `fqc change list --instance %s`", found.Name, found.StateReason, id)
		}
		if err := pause(ctx); err != nil {
			return found, fmt.Errorf("%s is still being created; allow more in `timeouts`: %w", found.Name, err)
		}
	}
}

func (r *instanceResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state instanceModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	found, err := api.Read[api.Instance](r.InstancesRetrieve(ctx, state.ID.ValueString()))
	if api.IsNotFound(err) || (err == nil && found.State == api.InstanceStateDeleting) {
		resp.State.RemoveResource(ctx)
		return
	}
	if err != nil {
		resp.Diagnostics.AddError("The instance cannot be read", err.Error())
		return
	}
	if found, err = r.settled(ctx, found); err != nil {
		resp.Diagnostics.AddError("The pending changes cannot be read", err.Error())
		return
	}
	resp.Diagnostics.Append(state.take(found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
}

func (r *instanceResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state, config instanceModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	limit, found := plan.Timeouts.Update(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, state.ID.ValueString(), limit)
	defer end()
	if r.update(ctx, plan, state, config, &resp.Diagnostics); resp.Diagnostics.HasError() {
		return
	}
	now, err := api.Read[api.Instance](r.InstancesRetrieve(ctx, state.ID.ValueString()))
	if err == nil {
		now, err = r.settled(ctx, now)
	}
	if err != nil {
		resp.Diagnostics.AddError("The instance cannot be read", err.Error())
		return
	}
	resp.Diagnostics.Append(plan.take(now)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &plan)...)
}

func (r *instanceResource) update(ctx context.Context, plan, state, config instanceModel, diags *diag.Diagnostics) {
	id := state.ID.ValueString()
	now, err := api.Read[api.Instance](r.InstancesRetrieve(ctx, id))
	if err == nil {
		body := api.Body(updateRequest(ctx, plan, state, config, now.Endpoint))
		_, err = api.Read[api.Instance](r.InstancesPartialUpdateWithBody(ctx, id, nil, api.JSON, body, api.IfVersion(now.Version)))
	}
	if err == nil && !plan.ProxyEnabled.Equal(state.ProxyEnabled) {
		body := map[string]any{"enabled": plan.ProxyEnabled.ValueBool(), "when": r.when, "note": r.note}
		answer, failed := r.InstancesProxyWithBody(ctx, id, nil, api.JSON, api.Body(body))
		err = r.applied(ctx, answer, failed)
	}
	if err == nil && !plan.InstanceClass.Equal(state.InstanceClass) {
		body := map[string]any{"instance_class": plan.InstanceClass.ValueString(), "allow_restart": r.allowRestart, "when": r.when, "note": r.note}
		answer, failed := r.InstancesResizeWithBody(ctx, id, nil, api.JSON, api.Body(body))
		err = r.applied(ctx, answer, failed)
	}
	if err != nil {
		addError(diags, "The instance was not changed", err, func(field string) (path.Path, bool) {
			if field == "query_cache_size" { // a literal size does not follow the class: a decision is due
				return path.Root("instance_class"), true
			}
			return instanceFields(field)
		})
	}
}

func (r *instanceResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state instanceModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	limit, found := state.Timeouts.Delete(ctx, defaultTimeout)
	resp.Diagnostics.Append(found...)
	if resp.Diagnostics.HasError() {
		return
	}
	ctx, end := r.turn(ctx, state.ID.ValueString(), limit)
	defer end()
	id := state.ID.ValueString()
	now, err := api.Read[api.Instance](r.InstancesRetrieve(ctx, id))
	if err == nil {
		var change api.Change
		if change, err = api.Read[api.Change](r.InstancesDestroy(ctx, id, nil, api.IfVersion(now.Version))); err == nil {
			if err = secondPerson(change); err == nil {
				err = r.await(ctx, change.Id)
			}
		}
	}
	if err != nil && !api.IsNotFound(err) {
		resp.Diagnostics.AddError("The instance was not removed", err.Error())
	}
}

func (r *instanceResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}
