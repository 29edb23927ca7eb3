// The Terraform provider of Fast Query Cache.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"fast-query-cache.dev/terraform-provider-fqc/internal/provider"
)

//go:generate go tool tfplugindocs generate --provider-name fqc --provider-dir . --examples-dir ../examples --rendered-website-dir ../docs

const version = "1.0.0"

func main() {
	isDebugged := flag.Bool("debug", false, "wait for a debugger")
	flag.Parse()
	options := providerserver.ServeOpts{Address: provider.Address, Debug: *isDebugged}
	if err := providerserver.Serve(context.Background(), provider.New(version), options); err != nil {
		log.Fatal(err)
	}
}
