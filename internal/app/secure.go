package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/kureka/kureka/internal/login"
)

// guard keeps the registry's port: who may use it and how it is encrypted. Both
// follow their files; for certificates a library does, which knows that mounted
// secrets change by a link and reads again when no event told of it. The zero
// value lets everybody in and encrypts nothing.
type guard struct {
	logins *login.Logins
	certs  *certwatcher.CertWatcher
	log    logr.Logger
}

func newGuard(opts *Options, log logr.Logger, metrics prometheus.Registerer) (guard, error) {
	g := guard{log: log}
	var err error
	if opts.UsersFile != "" {
		if g.logins, err = login.New(opts.UsersFile, log.WithName("login"), metrics); err != nil {
			return g, fmt.Errorf("--registry-users-file: %w", err)
		}
	}
	if opts.TLSCertFile != "" {
		if g.certs, err = certwatcher.New(opts.TLSCertFile, opts.TLSKeyFile); err != nil {
			return g, fmt.Errorf("--registry-tls-cert-file %q and --registry-tls-key-file %q: %w", opts.TLSCertFile, opts.TLSKeyFile, err)
		}
	}
	return g, nil
}

// protect puts the guard before a server.
func (g guard) protect(srv *http.Server) {
	if g.logins != nil {
		srv.Handler = g.logins.Require(srv.Handler)
	}
	if g.certs != nil {
		// 1.2 is what Java 8 speaks; the suites of it that Go offers are all sound.
		srv.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: g.certs.GetCertificate}
	}
}

// loops are what has to run for the files to be followed.
func (g guard) loops() []func(context.Context) {
	var all []func(context.Context)
	if g.logins != nil {
		all = append(all, g.logins.Run)
	}
	if g.certs != nil {
		all = append(all, g.followCertificate)
	}
	return all
}

func (g guard) followCertificate(ctx context.Context) {
	g.certs.RegisterCallback(func(c tls.Certificate) {
		if c.Leaf != nil {
			g.log.Info("Read the certificate", "subject", c.Leaf.Subject.String(), "until", c.Leaf.NotAfter)
		}
	})
	if err := g.certs.Start(ctx); err != nil {
		g.log.Error(err, "The certificate is not followed any more; restart to read another")
	}
}

// validateSecurity returns what is wrong with the settings of the guard.
func (o *Options) validateSecurity() error {
	if (o.TLSCertFile == "") != (o.TLSKeyFile == "") {
		return errors.New("--registry-tls-cert-file and --registry-tls-key-file: want both or neither")
	}
	return nil
}
