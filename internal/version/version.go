package version

import "runtime/debug"

const (
	unknown      = "devel"
	revisionKey  = "vcs.revision"
	modifiedKey  = "vcs.modified"
	modifiedMark = "+dirty"
	shortHash    = 12
)

// linked is the release's name. Only the linker writes it:
// -ldflags "-X github.com/kureka/kureka/internal/version.linked=v1.2.3".
var linked string

// String is the version of this build: the one given to the linker, else the
// module version, else the commit it was built from, else "devel". It is never
// empty and may be called from any goroutine.
func String() string {
	info, _ := debug.ReadBuildInfo()
	return resolve(linked, info)
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
	return commit(info.Settings)
}

func commit(settings []debug.BuildSetting) string {
	revision, mark := "", ""
	for _, s := range settings {
		switch {
		case s.Key == revisionKey:
			revision = s.Value[:min(len(s.Value), shortHash)]
		case s.Key == modifiedKey && s.Value == "true":
			mark = modifiedMark
		}
	}
	if revision == "" {
		return unknown
	}
	return revision + mark
}
