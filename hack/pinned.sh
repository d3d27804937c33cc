#!/bin/sh
# Runs a command with the Go that releases are built with, the one on the toolchain line
# of go.mod, whatever Go the machine has. Usage: hack/pinned.sh command [argument...]
set -eu

GOTOOLCHAIN=$(sed -n 's/^toolchain //p' go.mod)
export GOTOOLCHAIN="${GOTOOLCHAIN:?go.mod has no toolchain line}"
[ "$(go env GOVERSION)" = "$GOTOOLCHAIN" ] || {
	cat >&2 <<-EOT
		pinned: this wants $GOTOOLCHAIN, which go.mod names, and no other Go. It could not be fetched.
		Go fetches it once by itself, from 1.21 on, where GOPROXY leads to a Go module proxy that has
		the module golang.org/toolchain, and GOSUMDB to a checksum database. Without these install
		$GOTOOLCHAIN from https://go.dev/dl and put it first in PATH.
	EOT
	exit 1
}
exec "$@"
