package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	requestTimeout = 30 * time.Second
	// maxAnswer bounds what is read of one answer, in bytes: some twenty times the list
	// of 10,000 instances.
	maxAnswer = 512 << 20
)

// api reads the registry. It may be used by several goroutines.
type api struct {
	base   *url.URL
	name   string // what people call it
	client *http.Client
	clock  *clock // is set by what it answers
	close  func()
}

// errNotFound is answered for what the registry does not know.
var errNotFound = errors.New("not found")

// connect finds the registry and makes it reachable; the caller closes it.
func (o *options) connect(ctx context.Context) (*api, error) {
	if o.server != "" {
		return o.direct(o.server)
	}
	return o.forwarded(ctx)
}

// direct reads from a URL, which may have a user and password in it.
func (o *options) direct(server string) (*api, error) {
	base, ok := parseServer(server)
	if !ok {
		return nil, errors.New("what --server gives is no URL of a registry: want one such as http://localhost:8761")
	}
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/eureka")
	return o.reader(base, "", func() {})
}

// parseServer reads the URL of a server. What is none is not to be printed, as it may
// hold a password all the same.
func parseServer(text string) (base *url.URL, ok bool) {
	base, err := url.Parse(text)
	return base, err == nil && base.Host != "" && (base.Scheme == "http" || base.Scheme == "https")
}

// reader makes an api of a base URL. The certificate must be for serverName, or for
// the URL's host if that is empty.
func (o *options) reader(base *url.URL, serverName string, closer func()) (*api, error) {
	//nolint:gosec // not checking is what the flag says
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName, InsecureSkipVerify: o.skipTLS}
	if o.caFile != "" {
		pem, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, fmt.Errorf("reading the registry's authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the registry's authorities: there is no certificate in %s", o.caFile)
		}
	}
	if o.user != "" {
		base.User = url.UserPassword(o.user, o.Getenv(passwordVariable))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.TLSClientConfig = config
	name := *base
	name.User = nil
	return &api{base: base, name: name.String(), client: &http.Client{Transport: transport, Timeout: requestTimeout}, clock: o.clock, close: closer}, nil
}

// get reads what is at a path, which is escaped already, into a value.
func (a *api) get(ctx context.Context, path string, query url.Values, into any) error {
	target := a.base.String() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if err := a.read(ctx, target, into); err != nil {
		return fmt.Errorf("asking %s for %s: %w", a.name, path, err)
	}
	return nil
}

func (a *api) read(ctx context.Context, target string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok {
			err = cause.Err // its text repeats the URL, and a password with it
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or of no use
	a.clock.hear(resp.Header)
	body := io.LimitReader(resp.Body, maxAnswer)
	if resp.StatusCode != http.StatusOK {
		return refusal(resp, body)
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// refusal says in words why there is no answer.
func refusal(resp *http.Response, body io.Reader) error {
	var problem struct {
		Error string `json:"error"`
	}
	told := json.NewDecoder(body).Decode(&problem) == nil && problem.Error != ""
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return errors.New("it wants a user and password: give --registry-user and $" + passwordVariable)
	case resp.StatusCode == http.StatusNotFound && told:
		return fmt.Errorf("%w: %s", errNotFound, problem.Error)
	case told:
		return errors.New(problem.Error)
	case resp.StatusCode == http.StatusNotFound:
		return errors.New("it answers 404: it is no Kureka, or its dashboard is switched off")
	case resp.StatusCode == http.StatusServiceUnavailable:
		return errors.New("it answers 503: it has just started and does not know its instances yet, or it is busy")
	}
	return fmt.Errorf("it answers %s", resp.Status)
}
