// Command etcd is the real etcd server. Upstream publishes its main package in a
// module that lags behind the server module, so the entry point is restated here.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
