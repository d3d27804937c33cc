package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

const lockPoll = 500 * time.Millisecond

// lockFile takes an exclusive lock that ends with the process, so that a killed
// build blocks nobody. It says so when it has to wait.
func lockFile(ctx context.Context, path string, progress io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	locked, err := tryLock(file)
	if err == nil && !locked {
		err = withProgress(progress, "control plane: waiting for another process that prepares it", func() error {
			return pollLock(ctx, file)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, errors.Join(err, file.Close()))
	}
	return func() { _ = file.Close() }, nil // which cannot keep the lock
}

func pollLock(ctx context.Context, file *os.File) error {
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if locked, err := tryLock(file); locked || err != nil {
			return err
		}
	}
}

func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
