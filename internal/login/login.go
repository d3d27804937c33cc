package login

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/bcrypt"
)

const (
	// reloadInterval is how soon a change of the file counts.
	reloadInterval = 5 * time.Second
	// maxChecks bounds the hashes computed at a time, which is work that anybody can
	// cause, and maxWaiting those that wait for it.
	maxChecks, maxWaiting = 2, 64
)

// Logins knows who may use the registry. All methods may be called concurrently.
type Logins struct {
	path   string
	log    logr.Logger
	secret [sha256.Size]byte // makes macs worthless outside this process
	users  atomic.Pointer[users]

	file []byte // as it was read last; Run's alone

	running chan struct{} // a place for each hash being computed
	waiting atomic.Int64

	answers *prometheus.CounterVec
}

// New reads the file of users: a name, a colon and a bcrypt hash in each line, as
// htpasswd -B writes them.
func New(path string, log logr.Logger, metrics prometheus.Registerer) (*Logins, error) {
	l := &Logins{
		path: path, log: log, running: make(chan struct{}, maxChecks),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kureka_logins_refused_total",
			Help: "Requests to the registry's port refused for their name and password, by reason.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{reasonNone, reasonWrong, reasonBusy} {
		l.answers.WithLabelValues(reason)
	}
	if _, err := rand.Read(l.secret[:]); err != nil {
		return nil, fmt.Errorf("drawing a secret: %w", err)
	}
	if _, err := l.reload(); err != nil {
		return nil, err
	}
	if err := metrics.Register(l.answers); err != nil {
		return nil, fmt.Errorf("registering a metric: %w", err)
	}
	return l, nil
}

// Run follows changes of the file until the context ends. A file that cannot be
// read changes nothing: whoever could log in still can.
func (l *Logins) Run(ctx context.Context) {
	ticker := time.NewTicker(reloadInterval)
	defer ticker.Stop()
	broken := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		changed, err := l.reload()
		switch {
		case err != nil && err.Error() != broken:
			broken = err.Error()
			l.log.Error(err, "Keeping the users that are known")
		case err == nil:
			broken = ""
			if changed {
				l.log.Info("Read the users anew", "file", l.path, "users", len(l.users.Load().byName))
			}
		}
	}
}

// reload reads the file and reports whether it changed. It is read whole each
// time: a mounted secret changes by a link, which no time stamp shows.
func (l *Logins) reload() (changed bool, err error) {
	file, err := readFile(l.path)
	if err != nil {
		return false, fmt.Errorf("reading the users: %w", err)
	}
	old := l.users.Load()
	if old != nil && bytes.Equal(file, l.file) {
		return false, nil
	}
	all, err := parseUsers(file)
	if err != nil {
		return false, fmt.Errorf("reading the users in %s: %w", l.path, err)
	}
	if old != nil {
		all.keep(old)
	}
	l.users.Store(all)
	l.file = file
	return true, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file
	}
	file, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	return file, errors.Join(err, f.Close())
}

// The reasons for a refusal.
const (
	reasonNone  = "none"  // no name and password were sent
	reasonWrong = "wrong" // they are not right
	reasonBusy  = "busy"  // too many passwords are being checked
)

// Require lets only requests with a name and password of the file through to the
// handler. Others get an empty 401: clients take every body for a document.
func (l *Logins) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reason := reasonNone
		if name, password, ok := r.BasicAuth(); ok {
			if reason = l.check(r.Context(), name, password); reason == "" {
				next.ServeHTTP(w, r)
				return
			}
		}
		if reason != reasonBusy || r.Context().Err() == nil { // one that hung up says nothing about how busy this is
			l.answers.WithLabelValues(reason).Inc()
		}
		if reason == reasonBusy {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="Kureka", charset="UTF-8"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
}

// check returns the reason to refuse a name and password, "" if they are right.
// A password that was found right before costs one digest; nothing that a caller
// can measure depends on how much of a password is right.
func (l *Logins) check(ctx context.Context, name, password string) (reason string) {
	all := l.users.Load()
	who, known := all.byName[name]
	m := l.mac(name, password)
	if known {
		if right := who.verified.Load(); right != nil && subtle.ConstantTimeCompare(right[:], m[:]) == 1 {
			return ""
		}
	}
	if all.isRefused(m) {
		return reasonWrong
	}
	result := all.checks.DoChan(string(m[:]), func() (any, error) { return l.compute(all, who, m, password), nil })
	select {
	case <-ctx.Done():
		return reasonBusy
	case r := <-result:
		reason, _ = r.Val.(string)
		return reason
	}
}

// compute compares a password with the user's hash, or with the dearest one if
// there is no such user, so that a quick answer does not say that there is none.
func (l *Logins) compute(all *users, who *user, m mac, password string) (reason string) {
	if l.waiting.Add(1) > maxWaiting {
		l.waiting.Add(-1)
		return reasonBusy
	}
	l.running <- struct{}{}
	l.waiting.Add(-1)
	defer func() { <-l.running }()
	hash := all.decoy
	if who != nil {
		hash = who.hash
	}
	if err := bcrypt.CompareHashAndPassword(hash, []byte(password)); err != nil || who == nil {
		all.refuse(m)
		return reasonWrong
	}
	who.verified.Store(&m)
	return ""
}

func (l *Logins) mac(name, password string) mac {
	h := hmac.New(sha256.New, l.secret[:])
	length := len(name)
	_, _ = h.Write([]byte{byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)}) // a digest takes everything
	_, _ = io.WriteString(h, name)
	_, _ = io.WriteString(h, password)
	return mac(h.Sum(nil))
}
