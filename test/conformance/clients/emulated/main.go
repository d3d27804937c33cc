// Command emulated plays clients that cannot be installed here, each from what is
// known of its requests and of what its decoder refuses; the package comment of
// test/conformance has the contract, of which it takes the form with LANES. It owns
// the profiles of these clients and must not import the product.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// run serves all lanes and returns when the last one has been stopped.
func run() error {
	var lanes []settings
	if err := json.Unmarshal([]byte(os.Getenv("LANES")), &lanes); err != nil {
		return fmt.Errorf("reading LANES: %w", err)
	}
	var wg sync.WaitGroup
	errs := make(chan error, len(lanes))
	for _, s := range lanes {
		p, ok := profiles()[s["LANE_CLIENT"]]
		if !ok {
			return fmt.Errorf("there is no profile of %q", s["LANE_CLIENT"])
		}
		e, err := newEmulator(p, s)
		if err != nil {
			return fmt.Errorf("preparing %s: %w", s["LANE_CLIENT"], err)
		}
		wg.Go(func() { errs <- e.serve() })
	}
	wg.Wait()
	close(errs)
	var failed error
	for err := range errs {
		failed = errors.Join(failed, err)
	}
	return failed
}

// serve plays the client until it has been stopped.
func (e *emulator) serve() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	started := make(chan error, 1)
	go func() { started <- e.start(ctx) }()
	server := &http.Server{Addr: e.s["LANE_CONTROL"], ReadHeaderTimeout: 10 * time.Second}
	server.Handler = e.control(started, func() {
		cancel()
		go func() { _ = server.Shutdown(context.Background()) }() // ends after the answer
	})
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the control of %s: %w", e.s["LANE_CLIENT"], err)
	}
	return nil
}

func (e *emulator) control(started chan error, end func()) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case err := <-started:
			started <- err
			answer(w, nil, err)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /whoami", func(w http.ResponseWriter, _ *http.Request) {
		id, err := e.expand(e.p.id)
		answer(w, map[string]string{"client": e.s["LANE_CLIENT"], "version": e.p.version, "app": e.s["LANE_APP"], "id": id}, err)
	})
	mux.HandleFunc("GET /registry", func(w http.ResponseWriter, _ *http.Request) { answer(w, e.registry(), nil) })
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { answer(w, e.stats(), nil) })
	mux.HandleFunc("POST /status/{status}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, e.report(r.Context(), r.PathValue("status")))
	})
	mux.HandleFunc("POST /override/{status}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, e.override(r.Context(), r.PathValue("status")))
	})
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, e.stop(r.Context()))
		end()
	})
	return mux
}

func answer(w http.ResponseWriter, value any, err error) {
	switch {
	case errors.Is(err, errUnsupported):
		w.WriteHeader(http.StatusNotImplemented)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case value != nil:
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(value); err != nil {
			log.Print("answering: ", err)
		}
	}
}
