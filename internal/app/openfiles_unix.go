//go:build linux || darwin

package app

import (
	"math"
	"syscall"
)

// openFiles returns how many files this process may have open, 0 if nobody can tell.
// The runtime has raised the soft limit to the hard one.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, math.MaxInt32))
}
