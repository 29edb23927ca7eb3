package provider

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

// Approved changes that wait for their time count as made. Otherwise a second plan would contain them again.

// waiting returns the approved changes of one instance, oldest first, including those that run now.
func (c *Connection) waiting(ctx context.Context, id string) ([]api.Change, error) {
	states := []api.ChangesListParamsState{api.ChangesListParamsStateApproved, api.ChangesListParamsStateApplying, api.ChangesListParamsStateVerifying}
	listed, err := api.List[api.ChangeSummary](func(cursor *string) (*http.Response, error) {
		return c.ChangesList(ctx, &api.ChangesListParams{Instance: &id, State: &states, Cursor: cursor})
	})
	found := []api.Change{}
	for position := len(listed) - 1; err == nil && position >= 0; position-- {
		var change api.Change
		change, err = api.Read[api.Change](c.ChangesRetrieve(ctx, listed[position].Id))
		found = append(found, change)
	}
	return found, err
}

// settled returns the instance as it will be after its approved changes: with the class and the proxy that they set.
func (c *Connection) settled(ctx context.Context, found api.Instance) (api.Instance, error) {
	changes, err := c.waiting(ctx, found.Id)
	for _, change := range changes {
		for _, step := range change.Steps {
			switch {
			case step.Kind == api.StepKindSetClass && step.New != nil:
				found.InstanceClass = *step.New
			case step.Kind == api.StepKindSetProxy && step.New != nil:
				found.ProxyEnabled = *step.New == "true"
			}
		}
	}
	return found, err
}

// configured returns the instance's parameters by name, as they will be configured after its approved changes.
func (c *Connection) configured(ctx context.Context, instance string) (map[string]api.InstanceParameter, error) {
	owner, err := api.Read[api.Instance](c.InstancesRetrieve(ctx, instance))
	if err != nil {
		return nil, err
	}
	found, err := api.Read[api.InstanceParameters](c.InstancesParametersList(ctx, instance))
	if err != nil {
		return nil, err
	}
	named := map[string]api.InstanceParameter{}
	for _, parameter := range found.Items {
		named[parameter.Name] = parameter
	}
	changes, err := c.waiting(ctx, owner.Id)
	for _, change := range changes {
		for _, line := range change.Lines {
			parameter := named[line.Name]
			parameter.Configured, parameter.Resolved = line.NewSubmitted, line.NewValue
			named[line.Name] = parameter
		}
	}
	return named, err
}

// classOf returns the class of the instance, after its approved changes. Expressions are resolved by this class.
func (c *Connection) classOf(ctx context.Context, instance string) (types.String, error) {
	found, err := api.Read[api.Instance](c.InstancesRetrieve(ctx, instance))
	if err == nil {
		found, err = c.settled(ctx, found)
	}
	return types.StringValue(found.InstanceClass), err
}
