package provider

import (
	"strings"
	"testing"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func TestAChangeThatWaitsForASecondPersonSaysWhatToDo(t *testing.T) {
	for kind, words := range map[api.ChangeKind][]string{
		api.ChangeKindRestart: {"chg-1 restarts the server", "then apply again"},
		api.ChangeKindDelete:  {"chg-1 deletes the server's data", "then destroy again"},
	} {
		made := api.Change{Id: "chg-1", Kind: kind, State: api.ChangeStatePreviewed, NeedsSecondPerson: true}
		err := secondPerson(made)
		for _, word := range words {
			if err == nil || !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %v lacks %q", kind, err, word)
			}
		}
		made.State = api.ChangeStateApproved
		if err := secondPerson(made); err != nil {
			t.Errorf("%s that is approved: %v", kind, err)
		}
	}
}
