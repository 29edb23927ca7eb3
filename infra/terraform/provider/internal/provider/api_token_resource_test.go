package provider

import (
	"context"
	"strings"
	"testing"

	"fast-query-cache.dev/terraform-provider-fqc/internal/api"
)

func TestATokenIsSensitiveAndMadeAnewWhenRevoked(t *testing.T) {
	s := needStack(t)
	w := s.workdir(t)
	w.apply(`resource "fqc_api_token" "t" {
  name  = "terraform: ci"
  scope = "viewer"
}
output "token" {
  value     = fqc_api_token.t.token
  sensitive = true
}
output "id" { value = fqc_api_token.t.id }
`)
	secret, id := w.outputs()["token"].(string), w.outputs()["id"].(string)
	held, _ := api.New(s.Address, secret, "tests")
	if _, err := api.Read[api.Instance](held.InstancesRetrieve(context.Background(), s.Instances[0].ID)); err != nil {
		t.Errorf("the token does not work: %v", err)
	}
	if _, err := api.Read[struct{}](s.client.TokensDestroy(context.Background(), id)); err != nil {
		t.Fatal(err)
	}
	if plan := w.changed(); strings.Contains(plan, secret) || !strings.Contains(plan, "(sensitive value)") {
		t.Errorf("the plan shows a secret:\n%s", plan)
	}
}
