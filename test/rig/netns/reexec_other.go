//go:build !linux

package netns

import "errors"

func reexec() (int, error) { return 0, errors.ErrUnsupported }

func settle() {}
