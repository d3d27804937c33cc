package manager

import (
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAnErrorIsToldWhenItBeginsAndWhenItBeginsAgain(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "", errors.New("no"))
	down := errors.New("connection refused")
	now := time.Unix(1_700_000_000, 0)
	told := 0
	c := &complaint{subject: "things", log: funcr.New(func(string, string) { told++ }, funcr.Options{})}
	steps := []struct {
		after time.Duration
		err   error
		told  int
	}{
		{0, down, 1},
		{30 * time.Second, down, 1}, // it lasts
		{30 * time.Second, refused, 2},
		{30 * time.Second, down, 3},
		{forgotten - time.Second, down, 3},
		{forgotten, down, 4}, // it had ended
	}
	for i, s := range steps {
		now = now.Add(s.after)
		if c.about(now, s.err); told != s.told {
			t.Errorf("step %d: told %d times, want %d", i, told, s.told)
		}
	}
	c.settle()
	if c.about(now, down); told != 5 {
		t.Errorf("after it was settled: told %d times, want 5", told)
	}
}
