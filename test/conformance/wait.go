package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// patience bounds every single wait. It is no expectation about time: on a busy
	// machine a wait may need most of it.
	patience = 60 * time.Second
	// startPatience is for the start of all programs at once, some of which need many
	// seconds of processor time.
	startPatience = 10 * time.Minute
	poll          = 100 * time.Millisecond
)

// fatalError is one that no further try mends.
type fatalError struct{ error }

func (e fatalError) Unwrap() error { return e.error }

func fatal(err error) error { return fatalError{err} }

// until asks again and again until there is no error. What it returns after
// patience has run out tells the last one.
func until(ctx context.Context, what string, ask func(context.Context) error) error {
	return within(ctx, patience, what, ask)
}

// within is until with a limit of its own.
func within(ctx context.Context, limit time.Duration, what string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	var last error
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		// An error that only says that time is up tells less than the one before.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if _, ok := errors.AsType[fatalError](err); ok {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, last)
		case <-ticker.C:
		}
	}
}

// sleep lets time pass, so that what must not happen has the chance to.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
