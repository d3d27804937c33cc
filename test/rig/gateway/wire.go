package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// maxBody bounds a response body in bytes.
const maxBody = 64 << 20

// errNoAnswer is returned, wrapped, for every response that is no document: the
// reader keeps what it has.
var errNoAnswer = errors.New("the registry gave no document")

// application, applications and wireInstance are the documents as far as a
// gateway reads them.
type (
	applications struct {
		Hash         string        `json:"apps__hashcode"`
		Applications []application `json:"application"`
	}
	application struct {
		Name      string         `json:"name"`
		Instances []wireInstance `json:"instance"`
	}
	wireInstance struct {
		ID     string `json:"instanceId"`
		App    string `json:"app"`
		IP     string `json:"ipAddr"`
		Status string `json:"status"`
		Action string `json:"actionType"`
		Port   struct {
			Number uint16 `json:"$"`
		} `json:"port"`
	}
)

// Instance is one instance as a client knows it.
type Instance struct {
	App, ID string
	Status  string
	Address netip.AddrPort
}

func (w wireInstance) instance() (Instance, error) {
	addr, err := netip.ParseAddr(w.IP)
	if err != nil {
		return Instance{}, fmt.Errorf("reading the address of %s: %w", w.ID, err)
	}
	return Instance{
		App:     strings.ToUpper(w.App),
		ID:      w.ID,
		Status:  w.Status,
		Address: netip.AddrPortFrom(addr, w.Port.Number),
	}, nil
}

// newTransport connects from an address and gives up after timeout.
func newTransport(from netip.Addr, timeout time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: timeout}
	if from.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
	}
	return &http.Transport{DialContext: dialer.DialContext}
}

// get decodes a JSON document into v and returns the code of the answer, 0 if
// there was none.
func get(ctx context.Context, client *http.Client, url string, v any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, fmt.Errorf("building the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, fmt.Errorf("%w: %s", errNoAnswer, res.Status)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return res.StatusCode, fmt.Errorf("decoding %s: %w", url, err)
	}
	return res.StatusCode, nil
}
