package server

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/kureka/kureka/internal/eureka"
)

// readInstance reads and checks the body of a registration.
func (s *server) readInstance(c *call) (eureka.Instance, error) {
	buf := s.bodies.buffer()
	defer s.bodies.recycle(buf)
	if err := s.readBody(c, buf, s.limits.MaxBodyBytes); err != nil {
		return eureka.Instance{}, fmt.Errorf("reading the body: %w", err)
	}
	in, err := eureka.DecodeInstance(buf.Bytes())
	if err != nil {
		return eureka.Instance{}, fmt.Errorf("decoding the body: %w", err)
	}
	if err := eureka.Validate(&in, c.app); err != nil {
		return eureka.Instance{}, fmt.Errorf("checking the instance: %w", err)
	}
	return in, nil
}

// readBody reads the body into buf, unpacked if it is packed. The limit holds for
// both forms, so a small body cannot grow large.
func (s *server) readBody(c *call, buf *bytes.Buffer, limit int64) error {
	if c.r.ContentLength > limit {
		return errTooLarge
	}
	var body io.Reader = http.MaxBytesReader(c.w, c.r.Body, limit)
	switch strings.ToLower(strings.TrimSpace(c.r.Header.Get("Content-Encoding"))) {
	case "", identityEncoding:
	case gzipEncoding, "x-gzip":
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			return fmt.Errorf("unpacking: %w", err)
		}
		body = unpacked
	default:
		return &eureka.DecodeError{Field: "Content-Encoding", Reason: "not gzip"}
	}
	n, err := buf.ReadFrom(io.LimitReader(body, limit+1))
	if _, packedTooLarge := errors.AsType[*http.MaxBytesError](err); packedTooLarge || n > limit {
		return errTooLarge
	}
	return err
}
