package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

const (
	unknown      = "devel"
	noCommit     = "unknown"
	revisionKey  = "vcs.revision"
	modifiedKey  = "vcs.modified"
	modifiedMark = "+dirty"
	shortHash    = 12
)

// Only the linker writes these: linked is the release's name, linkedCommit the
// commit it was built from, in full.
// -ldflags "-X github.com/kureka/kureka/internal/version.linked=v1.2.3".
var linked, linkedCommit string

// Info is what a build knows of itself. No field is ever empty.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`    // in full, "+dirty" with changes; "unknown" where nobody told
	Go       string `json:"goVersion"` // of the toolchain, such as go1.26.0
	Platform string `json:"platform"`  // operating system and architecture, such as linux/amd64
}

// String is the version of this build: the one given to the linker, else the
// module version, else the commit it was built from, else "devel". It is never
// empty and may be called from any goroutine.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return resolve(linked, info)
}

// Get returns all that is known of this build. It may be called from any goroutine.
func Get() Info {
	info, _ := debug.ReadBuildInfo()
	return Info{
		Version: resolve(linked, info), Commit: resolveCommit(linkedCommit, info),
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

// Lines is the information for people, a line each, the version first.
func (i Info) Lines() string {
	return fmt.Sprintf("kureka %s\ncommit   %s\ngo       %s\nplatform %s\n", i.Version, i.Commit, i.Go, i.Platform)
}

// resolve picks the best name there is. A build without embedded information,
// such as one of a bare file, has a nil info.
func resolve(linked string, info *debug.BuildInfo) string {
	if linked != "" {
		return linked
	}
	if info == nil {
		return unknown
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, mark := commit(info.Settings)
	if revision == "" {
		return unknown
	}
	return revision[:min(len(revision), shortHash)] + mark
}

// resolveCommit prefers what the linker was told: a release is built without the
// information of the version control.
func resolveCommit(linked string, info *debug.BuildInfo) string {
	if linked != "" {
		return linked
	}
	if info == nil {
		return noCommit
	}
	revision, mark := commit(info.Settings)
	if revision == "" {
		return noCommit
	}
	return revision + mark
}

// commit returns the commit that a build was told and a mark if there were changes.
func commit(settings []debug.BuildSetting) (revision, mark string) {
	for _, s := range settings {
		switch {
		case s.Key == revisionKey:
			revision = s.Value
		case s.Key == modifiedKey && s.Value == "true":
			mark = modifiedMark
		}
	}
	return revision, mark
}
