// Package commands runs what README.md and docs/quickstarts.md tell readers to run,
// word for word: the commands of a section in one shell, in a copy of the checkout,
// and the programs of the quickstarts against a registry. All of it happens in a
// network namespace, where the ports that the documents name are free. Those of
// docs/install.md are run in test/chart, beside a node that runs the chart's pod.
package commands
