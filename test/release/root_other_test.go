//go:build !linux

package release

import "errors"

const rootEnv = "KUREKA_TEST_ROOT"

func enter(string) error { return errors.ErrUnsupported }
