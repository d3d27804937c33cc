package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
)

// toolchainLine is where go.mod names the Go that releases are built with.
var toolchainLine = regexp.MustCompile(`(?m)^toolchain (\S+)$`)

// usePinnedGo fails unless this program was built with the Go that go.mod names: the bytes
// of its archives depend on that, too, since Go 1.27 compresses otherwise than 1.26. All
// that it runs gets the same.
func usePinnedGo() error {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return fmt.Errorf("reading which Go is wanted: %w", err)
	}
	line := toolchainLine.FindSubmatch(text)
	if line == nil {
		return errors.New("go.mod has no toolchain line, which names the Go that is wanted")
	}
	wanted := string(line[1])
	if runtime.Version() != wanted {
		return fmt.Errorf("this was built with %s, and go.mod wants %s: run hack/pinned.sh go run ./hack/release, as make does", runtime.Version(), wanted)
	}
	if err := os.Setenv("GOTOOLCHAIN", wanted); err != nil {
		return fmt.Errorf("choosing the Go: %w", err)
	}
	return nil
}
