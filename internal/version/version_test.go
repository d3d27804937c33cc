package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestResolve_prefersTheMostExactName(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef01234567"
	tests := map[string]struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		"linked name wins":        {linked: "v1.2.3", info: built("v9.9.9"), want: "v1.2.3"},
		"module version":          {info: built("v0.4.0"), want: "v0.4.0"},
		"commit of a local build": {info: built("(devel)", revisionKey, hash), want: "0123456789ab"},
		"uncommitted changes":     {info: built("", revisionKey, hash, modifiedKey, "true"), want: "0123456789ab+dirty"},
		"clean tree":              {info: built("", revisionKey, hash, modifiedKey, "false"), want: "0123456789ab"},
		"short revision is kept":  {info: built("", revisionKey, "abc"), want: "abc"},
		"local build, no commit":  {info: built("(devel)", modifiedKey, "true"), want: unknown},
		"no build information":    {want: unknown},
		"empty build information": {info: built(""), want: unknown},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := resolve(tc.linked, tc.info); got != tc.want {
				t.Errorf("resolve(%q, %v) = %q, want %q", tc.linked, tc.info, got, tc.want)
			}
		})
	}
}

func TestResolveCommit_prefersWhatTheLinkerWasTold(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef01234567"
	tests := map[string]struct {
		linked string
		info   *debug.BuildInfo
		want   string
	}{
		"linked commit":          {linked: "fedcba", info: built("", revisionKey, hash), want: "fedcba"},
		"commit of a build":      {info: built("v0.4.0", revisionKey, hash), want: hash},
		"uncommitted changes":    {info: built("", revisionKey, hash, modifiedKey, "true"), want: hash + "+dirty"},
		"no commit":              {info: built("v0.4.0", modifiedKey, "true"), want: noCommit},
		"no build information":   {want: noCommit},
		"nothing, but a version": {info: built("v0.4.0"), want: noCommit},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := resolveCommit(tc.linked, tc.info); got != tc.want {
				t.Errorf("resolveCommit(%q, %v) = %q, want %q", tc.linked, tc.info, got, tc.want)
			}
		})
	}
}

func TestGet_leavesNothingEmpty(t *testing.T) {
	t.Parallel()
	info := Get()
	for field, value := range map[string]string{
		"Version": info.Version, "Commit": info.Commit, "Go": info.Go, "Platform": info.Platform,
	} {
		if value == "" {
			t.Errorf("%s is empty", field)
		}
		if !strings.Contains(info.Lines(), value) {
			t.Errorf("people are not told the %s, %q: %s", field, value, info.Lines())
		}
	}
}

func TestString_isNeverEmpty(t *testing.T) {
	t.Parallel()
	if String() == "" {
		t.Error("String() is empty")
	}
}

// built is the information of a build of the given module version; settings are
// key and value in turn.
func built(version string, settings ...string) *debug.BuildInfo {
	info := &debug.BuildInfo{Main: debug.Module{Version: version}}
	for i := 0; i+1 < len(settings); i += 2 {
		info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
	}
	return info
}
