// Localcluster is a throw-away Kubernetes control plane in one binary.
package main

import (
	"os"

	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/cli"
	"github.com/chartbook-operator/chartbook/cmd/localcluster/internal/component"
)

func main() {
	// The supervisor calls: component NAME DIR ARGS. DIR only marks the process as one of its cluster.
	if len(os.Args) > 3 && os.Args[1] == "component" {
		os.Exit(component.Main(os.Args[2], os.Args[4:]))
	}
	os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
}
