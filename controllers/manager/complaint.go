package manager

import (
	"errors"
	"sync"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// complaint logs an error when it begins and not again while it lasts.
type complaint struct {
	log     logr.Logger
	subject string

	mu   sync.Mutex
	last string
}

func (c *complaint) about(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := kindOf(err)
	if kind == c.last {
		return
	}
	c.last = kind
	if kind == missing {
		c.log.Info("The custom resources are not installed, so what is built in is in force. "+
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
