package manager

import (
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// forgotten is after how long without an error the next one begins: what goes on is
// tried again every 30 seconds at the latest.
const forgotten = 2 * time.Minute

// complaint logs an error when it begins and not again while it lasts. That it has
// ended nobody tells.
type complaint struct {
	log     logr.Logger
	subject string

	mu   sync.Mutex
	last string
	at   time.Time // of the last error, also of one that was not logged
}

func (c *complaint) about(now time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind, before := kindOf(err), c.at
	c.at = now
	if kind == c.last && now.Sub(before) < forgotten {
		return
	}
	c.last = kind
	if kind == missing {
		c.log.Info("The custom resources are not installed, so what is built in is in force, or what a snapshot has kept. "+
			"They are used as soon as they are: kubectl apply -k config/crd", "for", c.subject)
		return
	}
	c.log.Error(err, "Cannot read custom resources, what was in force stays so", "for", c.subject)
}

// settle makes the next error one that begins.
func (c *complaint) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = ""
}

// Kinds of errors; others are named by their reason at the API server.
const (
	missing = "missing"
	other   = "other"
)

func kindOf(err error) string {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return missing
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return string(status.Status().Reason)
	}
	return other
}
