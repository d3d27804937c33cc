package snapshotfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// explain adds to what the system says what to do about it.
func (f *File) explain(err error) error {
	dir := filepath.Dir(f.path)
	var cure string
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		cure = "the volume of " + dir + " is full: make room on it, or make it larger"
	case errors.Is(err, syscall.EROFS):
		cure = dir + " is read-only: mount a writable volume there, an emptyDir for example"
	case errors.Is(err, fs.ErrPermission):
		cure = fmt.Sprintf("user %d of group %d may not use %s: let it write to that folder, in a pod with fsGroup", os.Getuid(), os.Getgid(), dir)
	case isFolder(f.path):
		cure = f.path + " is a folder: name a file in it"
	case errors.Is(err, fs.ErrNotExist):
		cure = "the folder " + dir + " is not there: make it, or mount a volume there"
	case errors.Is(err, syscall.ENOTDIR):
		cure = dir + " is no folder: name a file in a folder"
	case errors.Is(err, syscall.EIO):
		cure = "the disk of " + dir + " fails: replace it"
	default:
		return err
	}
	return fmt.Errorf("%s (%w)", cure, err)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// escapeGlob makes a name match itself only.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// syncFolder makes a rename last. Some filesystems have no such thing, and a folder
// that may be written but not read cannot be asked for it.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
