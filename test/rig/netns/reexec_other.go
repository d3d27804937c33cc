//go:build !linux

package netns

import "errors"

func reexec() (int, error) { return 0, errors.ErrUnsupported }

func settle() {}

func blackHole(string) (func() error, error) { return nil, errors.ErrUnsupported }
