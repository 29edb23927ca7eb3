package provider

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

const pollEvery = 300 * time.Millisecond

// timing has the fields that every request for a change set has: when it runs, the note, and that it is approved at
// once.
type timing struct {
	When  api.When `json:"when"`
	Note  string   `json:"note"`
	Apply bool     `json:"apply"`
}

func (c *Connection) timing() timing { return timing{c.when, c.note, true} }

// applied waits until the change set that an operation created has been applied; answer and err are what the operation
// returned. It returns an error if the change set ends otherwise, or waits for a second person. It does not wait for a
// maintenance window that opens later. In an open window it does: the change runs at once, and the next one would be
// refused in the meantime.
func (c *Connection) applied(ctx context.Context, answer *http.Response, err error) error {
	made, err := api.Read[api.Change](answer, err)
	if err != nil {
		return err
	}
	if err := secondPerson(made); err != nil {
		return err
	}
	if c.when != api.WhenNow && !startsNow(made) {
		return nil
	}
	return c.await(ctx, made.Id)
}

// startsNow reports whether a change set runs at once, because its maintenance window is open.
func startsNow(made api.Change) bool {
	return made.NotBefore != nil && made.NotBefore.Before(made.CreatedAt.Add(time.Minute))
}

// secondPerson returns an error if the change set waits for the approval of a second person, and nil otherwise. The
// error says who has to do what.
func secondPerson(made api.Change) error {
	if !made.NeedsSecondPerson || made.State != api.ChangeStatePreviewed {
		return nil
	}
	what, again := "restarts the server", "apply"
	if made.Kind == api.ChangeKindDelete {
		what, again = "deletes the server's data", "destroy"
	}
	return fmt.Errorf("change %s %s and takes a second person: have someone else approve it, then %s again", made.Id, what, again)
}

// await polls the change set until it has been applied. It returns an error if it ends otherwise, or if ctx ends first;
// the change set then continues.
func (c *Connection) await(ctx context.Context, id string) error {
	for {
		found, err := api.Read[api.Change](c.ChangesRetrieve(ctx, id))
		if err != nil {
			return stillRunning(ctx, id, err)
		}
		switch found.State {
		case api.ChangeStateApplied:
			return nil
		case api.ChangeStateFailed, api.ChangeStateRolledBack, api.ChangeStateAborted:
			return fmt.Errorf("change %s ended as %s: %s", id, found.State, outcome(found))
		}
		if err := pause(ctx); err != nil {
			return stillRunning(ctx, id, err)
		}
	}
}

func outcome(found api.Change) string {
	if found.OutcomeDetail != "" {
		return found.OutcomeDetail
	}
	return found.OutcomeCode
}

// stillRunning returns the error for a wait that failed: err itself, or, if ctx has ended, that the change set
// continues.
func stillRunning(ctx context.Context, id string, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("change %s has not ended in time and continues in the background: follow it with `fqc change show %s`, or allow more in `timeouts`", id, id)
}

// pause waits until the next poll. It returns the error of ctx if that ends first.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollEvery):
		return nil
	}
}
