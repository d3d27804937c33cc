package drain

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
)

const (
	// readEvery is how soon a change of the files counts. Between the API server
	// trusting a new certificate and its use, pods are created as they are.
	readEvery = time.Second
	// maxFile bounds each file; a chain of certificates has a few kilobytes.
	maxFile = 1 << 20
)

// mounted is a certificate in a folder, which somebody else renews and has trusted.
// The folder may be empty at first, which controller-runtime's certwatcher does not
// bear: until there is a certificate pods are created as they are. Only follow changes it; get may be called concurrently.
type mounted struct {
	dir    string
	log    logr.Logger
	serves atomic.Pointer[tls.Certificate]

	chain, key []byte // as they were read last
}

// get implements tls.Config's GetCertificate.
func (m *mounted) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if s := m.serves.Load(); s != nil {
		return s, nil
	}
	return nil, errors.New("no certificate is there yet")
}

// follow reads the files until the context ends. What goes wrong is logged when it
// begins; a certificate that was read is used until there is another.
func (m *mounted) follow(ctx context.Context) {
	ticker := time.NewTicker(readEvery)
	defer ticker.Stop()
	broken := ""
	for {
		changed, err := m.read()
		switch {
		case err != nil && err.Error() != broken:
			broken = err.Error()
			m.complain(err)
		case err == nil:
			broken = ""
			if changed {
				m.log.Info("Read the webhook's certificate", "until", m.serves.Load().Leaf.NotAfter)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (m *mounted) complain(err error) {
	if m.serves.Load() == nil {
		m.log.Error(err, "Waiting for the webhook's certificate; until it is there pods are created without a drain and a readiness gate")
		return
	}
	m.log.Error(err, "Cannot read the webhook's certificate anew; the one before is used on")
}

// read reports whether the files have another certificate than before. They are read
// whole each time: a mounted Secret changes by a link, which no time stamp shows.
func (m *mounted) read() (changed bool, err error) {
	chain, err := readFile(filepath.Join(m.dir, "tls.crt"))
	if err != nil {
		return false, fmt.Errorf("reading the webhook's certificate: %w", err)
	}
	key, err := readFile(filepath.Join(m.dir, "tls.key"))
	if err != nil {
		return false, fmt.Errorf("reading the key of the webhook's certificate: %w", err)
	}
	if m.serves.Load() != nil && bytes.Equal(chain, m.chain) && bytes.Equal(key, m.key) {
		return false, nil
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil { // or the link has changed in between
		return false, fmt.Errorf("reading the webhook's certificate: %w", err)
	}
	m.serves.Store(&pair)
	m.chain, m.key = chain, key
	return true, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the file
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(content) > maxFile { // a part of a chain could look whole
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	return content, errors.Join(err, f.Close())
}
