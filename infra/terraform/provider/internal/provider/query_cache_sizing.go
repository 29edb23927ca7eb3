package provider

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

var cacheFields = roots("type", "rule", "size_bytes", "result_set_bytes", "shrink_buffer_pool")

// locateCache returns the attribute to which a finding on this field is assigned: the one that determines the size, the
// attribute of the same name, or otherwise the instance. It never returns false.
func locateCache(field string) (path.Path, bool) {
	if field == "query_cache_size" {
		return path.Root("size_bytes"), true
	}
	if where, known := cacheFields(field); known {
		return where, true
	}
	return path.Root("instance_id"), true
}

// sizing returns the body of the request that enables the cache, and of its preview. The buffer pool is only reduced if
// the cache is not enabled yet.
func (r *queryCache) sizing(m queryCacheModel, isEnabled bool) map[string]any {
	body := map[string]any{
		"allow_restart": r.allowRestart, "type": cacheTypes[m.Type.ValueString()], "rule": api.SizeRuleBufferPool,
		"shrink_buffer_pool": m.ShrinkBufferPool.ValueBool() && !isEnabled,
	}
	if rule := m.Rule.ValueString(); rule != "" {
		body["rule"] = rule
	}
	if !m.ResultSetBytes.IsNull() {
		body["result_set_bytes"] = m.ResultSetBytes.ValueInt64()
	}
	if !m.SizeBytes.IsNull() && !m.SizeBytes.IsUnknown() {
		body["rule"], body["size_bytes"] = api.SizeRuleExplicit, m.SizeBytes.ValueInt64()
	}
	return body
}

// choosesAnew reports whether the size has to be chosen again: the rule or its input has changed, and the configuration
// sets no size.
func choosesAnew(ctx context.Context, plan, state queryCacheModel, req resource.ModifyPlanRequest) bool {
	var written types.Int64
	req.Config.GetAttribute(ctx, path.Root("size_bytes"), &written)
	return written.IsNull() && (!plan.Rule.Equal(state.Rule) || !plan.ResultSetBytes.Equal(state.ResultSetBytes))
}

// size returns the configured size of the cache in bytes, null if there is none. The server may run a rounded one.
func (r *queryCache) size(ctx context.Context, m queryCacheModel) (types.Int64, error) {
	found, err := r.configured(ctx, m.InstanceID.ValueString())
	if err != nil || found["query_cache_size"].Resolved == nil {
		return types.Int64Null(), err
	}
	count, err := strconv.ParseInt(*found["query_cache_size"].Resolved, 10, 64)
	return types.Int64Value(count), err
}

// typeOf returns ON or DEMAND for a configured query_cache_type, which may also be 1 or 2. It is empty if the cache is
// off, or if nothing is configured, since servers have it off by default.
func typeOf(configured *string) string {
	if configured == nil {
		return ""
	}
	for name, number := range cacheTypes {
		if *configured == name || *configured == fmt.Sprint(number) {
			return name
		}
	}
	return ""
}
