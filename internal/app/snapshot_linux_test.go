package app

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Where nothing can be written, nobody kept the snapshot up to date: what it
// remembers counts, but it is not the whole registry.
func TestASnapshotOnAReadOnlyVolumeIsNotTheWholeRegistry(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "registry.snapshot")
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no right to mount: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	leave(t, path)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=1m"); err != nil {
		t.Skipf("no right to remount: %v", err)
	}
	a, log := loudly(t, kept(path))
	if a.gate.Open(time.Now()) || a.reg.Snapshot().Len() != 1 {
		t.Errorf("lists are answered: %v, with %d instances", a.gate.Open(time.Now()), a.reg.Snapshot().Len())
	}
	if !strings.Contains(log, "read-only") {
		t.Errorf("nothing about it in %s", log)
	}
}
