// Command kubectl is the one of Kubernetes, built like Helm, so that documented
// commands can be run where nobody has installed it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
)

func main() {
	os.Exit(cli.Run(cmd.NewDefaultKubectlCommand()))
}
