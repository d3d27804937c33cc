package login

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/sync/singleflight"
)

// Bounds of a file of users.
const (
	maxFileBytes = 1 << 20
	maxUsers     = 10_000
	// maxCost is the dearest hash that is accepted. Each step doubles the time of a
	// check; this one takes about a second.
	maxCost = 14
)

// mac stands for a name with a password. It is only ever made by Logins.mac.
type mac [sha256.Size]byte

// user is one line of the file.
type user struct {
	hash []byte
	// verified is the password that was found right last, so that the hash is
	// computed once and not for every heartbeat. Nil before.
	verified atomic.Pointer[mac]
}

// users are the users of a file and what was found out about their passwords.
// Another file makes another value.
type users struct {
	byName map[string]*user // not changed any more
	decoy  []byte           // the dearest hash, to compare with when there is no such user

	checks  singleflight.Group // one hash for all who ask at once with the same password
	mu      sync.Mutex
	refused map[mac]struct{} // wrong passwords
}

// maxRefused bounds the wrong passwords that are remembered, so that a client
// that goes on with one costs nothing.
const maxRefused = 4096

// refuse remembers a wrong password.
func (u *users) refuse(m mac) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.refused) >= maxRefused {
		clear(u.refused)
	}
	u.refused[m] = struct{}{}
}

func (u *users) isRefused(m mac) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, wrong := u.refused[m]
	return wrong
}

// parseUsers reads a file in the format of htpasswd: a name, a colon and a bcrypt
// hash in each line. Empty lines and those that begin with "#" say nothing.
// Errors name the line and never what it holds.
func parseUsers(file []byte) (*users, error) {
	if len(file) > maxFileBytes {
		return nil, fmt.Errorf("the file has more than %d bytes", maxFileBytes)
	}
	all, dearest := &users{byName: map[string]*user{}, refused: map[mac]struct{}{}}, 0
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, maxFileBytes+1)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if line == "" || line[0] == '#' {
			continue
		}
		cost, hash, err := all.add(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if cost > dearest {
			dearest, all.decoy = cost, hash
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	switch {
	case len(all.byName) == 0:
		return nil, errors.New("the file names nobody")
	case len(all.byName) > maxUsers:
		return nil, fmt.Errorf("the file has more than %d users", maxUsers)
	}
	return all, nil
}

// add takes in a line and returns its hash and what that costs.
func (u *users) add(line string) (cost int, hash []byte, err error) {
	name, text, ok := strings.Cut(line, ":")
	if !ok || name == "" {
		return 0, nil, errors.New("want name:hash")
	}
	if u.byName[name] != nil {
		return 0, nil, errors.New("the name occurs twice")
	}
	if cost, err = costOf(text); err != nil {
		return 0, nil, err
	}
	hash = []byte(text)
	u.byName[name] = &user{hash: hash}
	return cost, hash, nil
}

// costOf returns the cost of a hash that can be used.
func costOf(hash string) (int, error) {
	cost, err := bcrypt.Cost([]byte(hash))
	switch {
	case err != nil:
		return 0, errors.New("not a bcrypt hash: make one with htpasswd -B")
	case cost > maxCost:
		return 0, fmt.Errorf("a bcrypt hash of cost %d: %d at most, or a login takes seconds", cost, maxCost)
	}
	return cost, nil
}

// keep takes over what is known of the users that did not change.
func (u *users) keep(old *users) {
	for name, before := range old.byName {
		if now := u.byName[name]; now != nil && bytes.Equal(now.hash, before.hash) {
			now.verified.Store(before.verified.Load())
		}
	}
}
