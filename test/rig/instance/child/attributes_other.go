//go:build !linux

package child

import "syscall"

// attributes cannot tie the child's life to ours here: only Kill ends it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
