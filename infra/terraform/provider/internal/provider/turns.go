package provider

import (
	"context"
	"time"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// turn waits until no other resource of this process changes the instance, and keeps others waiting until `end` is
// called, which the caller must do. Terraform applies independent resources concurrently, and the control plane refuses
// a change of an instance while another one runs.
//
// The returned context ends after limit, which is for the caller's own change and not for the wait. The wait ends when
// earlier changes end, or with ctx; the returned context is then ctx, which has ended.
func (c *Connection) turn(ctx context.Context, instance string, limit time.Duration) (limited context.Context, end func()) {
	// One resource may go by the instance's name, and another by its id. Without an answer, what comes next fails as well.
	if found, err := api.Read[api.Instance](c.InstancesRetrieve(ctx, instance)); err == nil {
		instance = found.Id
	}
	kept, _ := c.turns.LoadOrStore(instance, make(chan struct{}, 1))
	held := kept.(chan struct{})
	select {
	case held <- struct{}{}:
		limited, cancel := context.WithTimeout(ctx, limit)
		return limited, func() { cancel(); <-held }
	case <-ctx.Done(): // what comes next ends at once
		return ctx, func() {}
	}
}
