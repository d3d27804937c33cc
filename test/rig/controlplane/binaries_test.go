package controlplane

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnsureLooksInTheDocumentedOrder(t *testing.T) {
	tests := map[string]struct {
		assets, cached, downloadable []string
		want                         map[string]string // binary to the place it comes from
	}{
		"everything in KUBEBUILDER_ASSETS": {
			assets: []string{etcdName, apiServerName, controllerManagerName},
			cached: []string{etcdName},
			want:   map[string]string{etcdName: "assets", apiServerName: "assets", controllerManagerName: "assets"},
		},
		"assets without a controller manager": {
			assets: []string{etcdName, apiServerName},
			cached: []string{controllerManagerName},
			want:   map[string]string{etcdName: "assets", apiServerName: "assets", controllerManagerName: "cache"},
		},
		"download leaves the controller manager to the build": {
			downloadable: []string{etcdName, apiServerName},
			want:         map[string]string{etcdName: "downloaded", apiServerName: "downloaded", controllerManagerName: "built"},
		},
		"no download": {
			cached: []string{etcdName},
			want:   map[string]string{etcdName: "cache", apiServerName: "built", controllerManagerName: "built"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := fakeLocator(t, tc.downloadable)
			for _, name := range tc.assets {
				place(t, l.assets, name, "assets")
			}
			for _, name := range tc.cached {
				place(t, l.cache, name, "cache")
			}
			binaries, err := l.ensure(t.Context(), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{
				etcdName:              read(t, binaries.Etcd),
				apiServerName:         read(t, binaries.APIServer),
				controllerManagerName: read(t, binaries.ControllerManager),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("origin of the binaries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnsureSaysWhyItBuilds(t *testing.T) {
	l := fakeLocator(t, nil)
	var progress strings.Builder
	if _, err := l.ensure(t.Context(), &progress); err != nil {
		t.Fatal(err)
	}
	if want := "no download (index unreachable), building instead"; !strings.Contains(progress.String(), want) {
		t.Errorf("progress %q does not contain %q", progress.String(), want)
	}
}

func TestEnsureReportsAFailedBuild(t *testing.T) {
	l := fakeLocator(t, nil)
	cause := errors.New("no space left")
	l.build = func(context.Context, string, string, io.Writer) error { return cause }
	if _, err := l.ensure(t.Context(), io.Discard); !errors.Is(err, cause) {
		t.Errorf("ensure() = %v, want %v", err, cause)
	}
}

func TestEnsureWaitsForAnotherBuildOnlyAsLongAsItMay(t *testing.T) {
	l := fakeLocator(t, nil)
	unlock, err := lockFile(t.Context(), filepath.Join(l.cache, "lock"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.ensure(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("ensure() = %v, want %v", err, context.Canceled)
	}
}

func TestVersionIsTheOneTheModulePins(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	pinned := read(t, filepath.Join(root, "hack", "controlplane", "go.mod"))
	if want := "k8s.io/kubernetes " + Version + "\n"; !strings.Contains(pinned, want) {
		t.Errorf("hack/controlplane/go.mod does not require %q", strings.TrimSpace(want))
	}
}

func fakeLocator(t *testing.T, downloadable []string) locator {
	t.Helper()
	return locator{
		assets: t.TempDir(),
		cache:  t.TempDir(),
		download: func(_ context.Context, cache string, _ []string, _ io.Writer) error {
			for _, name := range downloadable {
				place(t, cache, name, "downloaded")
			}
			if downloadable == nil {
				return errors.New("index unreachable")
			}
			return nil
		},
		build: func(_ context.Context, cache, name string, _ io.Writer) error {
			place(t, cache, name, "built")
			return nil
		},
	}
}

func place(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil { //nolint:gosec // it stands for a program
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
