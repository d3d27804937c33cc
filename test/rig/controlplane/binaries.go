package controlplane

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Version is the Kubernetes release the rig runs. The module hack/controlplane
// requires the same one.
const Version = "v1.37.2"

const (
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
)

// Binaries are the absolute paths of the three programs.
type Binaries struct {
	Etcd              string
	APIServer         string
	ControllerManager string
}

// Ensure returns the binaries, downloading or building those that are neither
// in the folder KUBEBUILDER_ASSETS names nor in the cache folder.
// Building takes 10 to 20 minutes on two cores, once per machine; progress is
// reported to progress at least every 15 s. Concurrent callers, also in other
// processes, wait for the first one.
func Ensure(ctx context.Context, progress io.Writer) (Binaries, error) {
	l, err := newLocator()
	if err != nil {
		return Binaries{}, err
	}
	return l.ensure(ctx, progress)
}

// locator is the order in which a binary is looked for.
type locator struct {
	assets   string // KUBEBUILDER_ASSETS, may be empty
	cache    string // where downloads and builds go
	download func(ctx context.Context, cache string, missing []string, progress io.Writer) error
	build    func(ctx context.Context, cache, name string, progress io.Writer) error
}

func newLocator() (locator, error) {
	cache, err := cacheDir()
	if err != nil {
		return locator{}, err
	}
	return locator{
		assets:   os.Getenv("KUBEBUILDER_ASSETS"),
		cache:    cache,
		download: download,
		build:    build,
	}, nil
}

// cacheDir is <KUREKA_CACHE or the user's cache folder>/kureka/controlplane/<version>.
func cacheDir() (string, error) {
	base := os.Getenv("KUREKA_CACHE")
	if base == "" {
		var err error
		if base, err = os.UserCacheDir(); err != nil {
			return "", fmt.Errorf("finding the cache folder (set KUREKA_CACHE to name one): %w", err)
		}
		base = filepath.Join(base, "kureka")
	}
	dir, err := filepath.Abs(filepath.Join(base, "controlplane", Version))
	if err != nil {
		return "", fmt.Errorf("resolving the cache folder: %w", err)
	}
	return dir, nil
}

func (l locator) ensure(ctx context.Context, progress io.Writer) (Binaries, error) {
	if len(l.missing()) == 0 {
		return l.binaries(), nil
	}
	if err := os.MkdirAll(l.cache, 0o750); err != nil {
		return Binaries{}, fmt.Errorf("creating the cache folder: %w", err)
	}
	unlock, err := lockFile(ctx, filepath.Join(l.cache, "lock"), progress)
	if err != nil {
		return Binaries{}, fmt.Errorf("waiting for another process that prepares the control plane: %w", err)
	}
	defer unlock()
	missing := l.missing()
	if len(missing) == 0 {
		return l.binaries(), nil
	}
	if err := l.download(ctx, l.cache, missing, progress); err != nil {
		fmt.Fprintf(progress, "control plane: no download (%v), building instead\n", err)
	}
	for _, name := range l.missing() {
		if err := l.build(ctx, l.cache, name, progress); err != nil {
			return Binaries{}, fmt.Errorf("preparing the control plane: %w", err)
		}
	}
	if missing := l.missing(); len(missing) > 0 {
		return Binaries{}, fmt.Errorf("control plane binaries are missing after the build: %s", strings.Join(missing, ", "))
	}
	return l.binaries(), nil
}

func (l locator) missing() []string {
	var names []string
	for _, name := range []string{etcdName, apiServerName, controllerManagerName} {
		if l.find(name) == "" {
			names = append(names, name)
		}
	}
	return names
}

func (l locator) binaries() Binaries {
	return Binaries{
		Etcd:              l.find(etcdName),
		APIServer:         l.find(apiServerName),
		ControllerManager: l.find(controllerManagerName),
	}
}

// find returns the absolute path of an executable, or "".
func (l locator) find(name string) string {
	for _, dir := range []string{l.assets, l.cache} {
		if dir == "" {
			continue
		}
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}
