package provider

import (
	"context"
	"time"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// turn waits until nothing else of this process changes the instance, and holds it until `end` is called. Terraform
// applies resources that do not need each other at once, and the control plane refuses a change while another is at work.
//
// The limit applies to the caller's own change, not to the wait, which ends when earlier changes have reached their limits.
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
