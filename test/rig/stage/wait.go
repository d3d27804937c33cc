package stage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// Patience bounds every single wait. It is no expectation about time: a machine
	// that is busy with something else may need most of it.
	Patience = 90 * time.Second
	// Poll is the pause between two looks at something.
	Poll = 20 * time.Millisecond
)

// Until asks again and again until the answer is yes. The error of a wait that
// was given up says for what.
func Until(ctx context.Context, what string, ask func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	ticker := time.NewTicker(Poll)
	defer ticker.Stop()
	for {
		yes, err := ask(ctx)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if yes {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

// Pass lets time pass, so that what must not happen has the chance to.
func Pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
