//go:build !linux

package controlplane

import "syscall"

// childAttributes cannot tie the child's life to ours here: only Stop ends it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
