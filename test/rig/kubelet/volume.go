package kubelet

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// currentLink names the folder that holds the files of a volume now.
const currentLink = "..data"

// WriteVolume puts the files of a Secret or ConfigMap into a folder as the kubelet
// does: each is a link to a file in a folder that another link names, which is
// replaced, so that all of them change at once. Files that were there and are not
// named are gone. The same files again change nothing. One caller at a time.
func WriteVolume(dir string, files map[string][]byte) error {
	before, err := os.Readlink(filepath.Join(dir, currentLink))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the volume: %w", err)
	}
	old, err := read(dir, before)
	if err != nil {
		return fmt.Errorf("reading the volume: %w", err)
	}
	if before != "" && maps.EqualFunc(old, files, bytes.Equal) {
		return nil
	}
	if err := replace(dir, files); err != nil {
		return fmt.Errorf("writing the volume: %w", err)
	}
	if err := link(dir, old, files); err != nil {
		return fmt.Errorf("linking the files of the volume: %w", err)
	}
	if before == "" {
		return nil
	}
	return os.RemoveAll(filepath.Join(dir, before))
}

// read returns the files of a folder in the volume; none if it has no name.
func read(dir, name string) (map[string][]byte, error) {
	if name == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(entries))
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, name, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// replace writes the files into a new folder and has the link name it.
func replace(dir string, files map[string][]byte) error {
	next, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(next, name), content, 0o600); err != nil {
			return err
		}
	}
	temporary := filepath.Join(dir, currentLink+"_tmp")
	if err := os.Symlink(filepath.Base(next), temporary); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(dir, currentLink))
}

// link makes the links that are new and removes those of files that are gone.
func link(dir string, old, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, there := old[name]; there {
			continue
		}
		if err := os.Symlink(filepath.Join(currentLink, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for name := range old {
		if _, stays := files[name]; stays {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
