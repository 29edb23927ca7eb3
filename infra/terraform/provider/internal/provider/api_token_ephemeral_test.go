package provider

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func TestAnEphemeralTokenIsInNeitherPlanNorStateAndRevokedAtTheEnd(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	w.configure(`
ephemeral "fqc_api_token" "run" {
  name  = "terraform: this run"
  scope = "viewer"
}
provider "fqc" {
  alias = "narrow"
  url   = "` + s.Address + `"
  token = ephemeral.fqc_api_token.run.token
}
data "fqc_instance_classes" "all" { provider = fqc.narrow }
output "count" { value = length(data.fqc_instance_classes.all.items) }
`)
	w.must("apply", "-auto-approve", "-no-color")
	if w.outputs()["count"].(float64) < 1 {
		t.Error("nothing was read with the token")
	}
	if strings.Contains(w.state(), "this run") {
		t.Error("the token is in state")
	}
	left, err := api.List[api.Token](func(cursor *string) (*http.Response, error) {
		return s.client.TokensList(context.Background(), &api.TokensListParams{Cursor: cursor})
	})
	for _, token := range left {
		if token.Name == "terraform: this run" {
			t.Errorf("it was not revoked: %+v", token)
		}
	}
	if err != nil {
		t.Error(err)
	}
}
