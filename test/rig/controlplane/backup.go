package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	dataDir   = "etcd"
	backupDir = "etcd-backup"
)

// Backup keeps what etcd holds now, for Restore. etcd stands still meanwhile, so
// that its files are as after a crash, which it survives.
func (c *ControlPlane) Backup() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.etcd.signal(syscall.SIGSTOP)
	defer c.etcd.signal(syscall.SIGCONT)
	if err := c.copyData(dataDir, backupDir); err != nil {
		return fmt.Errorf("backing up etcd: %w", err)
	}
	return nil
}

// Restore makes etcd hold what it held at the last Backup, and returns when the API
// server is ready again. Resource versions go back and will be given out a second
// time. As the manual of a restore asks, all programs of the control plane are
// started anew; who else watches is on its own.
func (c *ControlPlane) Restore(ctx context.Context) error {
	c.mu.Lock()
	c.manager.kill()
	c.apiServer.kill()
	c.etcd.kill()
	err := c.copyData(backupDir, dataDir)
	if err == nil {
		err = c.runEtcd(ctx)
	}
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("restoring etcd: %w", err)
	}
	if err := c.StartAPIServer(ctx); err != nil {
		return fmt.Errorf("restoring etcd: %w", err)
	}
	if c.options.NoControllerManager {
		return nil
	}
	return c.startControllerManager(ctx)
}

// copyData replaces one folder by a copy of another.
func (c *ControlPlane) copyData(from, to string) error {
	return errors.Join(os.RemoveAll(c.path(to)), os.CopyFS(c.path(to), os.DirFS(c.path(from))))
}
