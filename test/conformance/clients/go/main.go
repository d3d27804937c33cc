// Command go is one lane of test/conformance around a Go client; the package
// comment of test/conformance has the contract. It owns what an application does
// with each client and nothing of the protocol.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// client is what an application makes of one of the libraries.
type client interface {
	module() string
	start() error
	id() string
	registry() registry
	status(status string) error
	override(status string) error
	// stop deregisters. The program ends right after it.
	stop() error
}

// instance and registry are what the control server shows.
type instance struct {
	Status     string            `json:"status"`
	IPAddr     string            `json:"ipAddr"`
	HostName   string            `json:"hostName"`
	Port       int               `json:"port"`
	SecurePort int               `json:"securePort"`
	VIP        string            `json:"vipAddress"`
	Metadata   map[string]string `json:"metadata"`
}

type registry map[string]map[string]instance

func (r registry) add(app, id string, in instance) {
	if r[app] == nil {
		r[app] = map[string]instance{}
	}
	r[app][id] = in
}

var errUnsupported = errors.New("the client has no means for this")

// settings are the environment of the lane.
type settings struct {
	url, app, id, host, ip, vip string
	port, securePort            int
	renew, fetch                time.Duration
	leaseSeconds                int
	metadata                    map[string]string
	watch                       []string
}

func readSettings() (settings, error) {
	var errs []error
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			errs = append(errs, fmt.Errorf("reading %s: %w", name, err))
		}
		return n
	}
	s := settings{
		url: os.Getenv("KUREKA_URL"), app: os.Getenv("LANE_APP"), id: os.Getenv("LANE_ID"), host: os.Getenv("LANE_HOST"),
		ip: os.Getenv("LANE_IP"), vip: os.Getenv("LANE_VIP"),
		port: number("LANE_PORT"), securePort: number("LANE_SECURE_PORT"),
		renew: time.Duration(number("LANE_RENEW_SECONDS")) * time.Second,
		fetch: time.Duration(number("LANE_FETCH_SECONDS")) * time.Second, leaseSeconds: number("LANE_LEASE_SECONDS"),
		watch: strings.Split(os.Getenv("LANE_WATCH"), ","),
	}
	if err := json.Unmarshal([]byte(os.Getenv("LANE_METADATA")), &s.metadata); err != nil {
		errs = append(errs, fmt.Errorf("reading LANE_METADATA: %w", err))
	}
	return s, errors.Join(errs...)
}

func newClient(s settings) (client, error) {
	switch kind := os.Getenv("LANE_CLIENT"); kind {
	case "fargo-xml":
		return newFargo(s, false), nil
	case "fargo-json":
		return newFargo(s, true), nil
	case "go-kit":
		return newGoKit(s), nil
	case "arthurhlt":
		return newArthurHlt(s), nil
	case "xuanbo":
		return newXuanbo(s), nil
	default:
		return nil, fmt.Errorf("LANE_CLIENT %q is not known here", kind)
	}
}

func main() {
	s, err := readSettings()
	if err != nil {
		log.Fatal(err)
	}
	c, err := newClient(s)
	if err != nil {
		log.Fatal(err)
	}
	if err := c.start(); err != nil {
		log.Fatal("starting: ", err)
	}
	log.Fatal(http.ListenAndServe(os.Getenv("LANE_CONTROL"), control(c, s)))
}

// control serves the contract. It is up only once the client has started.
func control(c client, s settings) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /whoami", func(w http.ResponseWriter, _ *http.Request) {
		show(w, map[string]string{"client": c.module(), "version": version(c.module()), "app": s.app, "id": c.id()})
	})
	mux.HandleFunc("GET /registry", func(w http.ResponseWriter, _ *http.Request) { show(w, c.registry()) })
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		show(w, map[string]any{"full": nil, "delta": nil, "mismatches": nil})
	})
	mux.HandleFunc("POST /status/{status}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, c.status(r.PathValue("status")))
	})
	mux.HandleFunc("POST /override/{status}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, c.override(r.PathValue("status")))
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		err := c.stop()
		answer(w, err)
		time.AfterFunc(100*time.Millisecond, func() { os.Exit(0) })
	})
	return mux
}

func show(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Print("answering: ", err)
	}
}

func answer(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errUnsupported):
		w.WriteHeader(http.StatusNotImplemented)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// version is that of the module in this program.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return ""
}

// every calls do at once and then in each interval, until the program ends.
func every(interval time.Duration, do func()) {
	go func() {
		for ; ; time.Sleep(interval) {
			do()
		}
	}()
}

// held is the registry that was read last.
type held struct {
	mu   sync.Mutex
	last registry
}

func (h *held) set(r registry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = r
}

func (h *held) registry() registry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}
