package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// chosen is the hidden first argument; the configuration follows as JSON.
const chosen = "rig-instance"

// RunIfChosen turns this process into an instance if Start started it for that,
// and then does not return. Every program that starts instances calls it first
// thing in main or TestMain.
func RunIfChosen() {
	if len(os.Args) != 3 || os.Args[1] != chosen {
		return
	}
	if err := run(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "instance:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run is the life of an instance. It reports on standard output, one event a line.
func run(encoded string) error {
	var config Config
	if err := json.Unmarshal([]byte(encoded), &config); err != nil {
		return fmt.Errorf("decoding the configuration: %w", err)
	}
	config = config.withDefaults()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	report := reporter()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server, err := listen(ctx, config)
	if err != nil {
		return err
	}
	report(Event{At: time.Now(), Op: Listening})
	c := newClient(config, report)
	var heartbeats sync.WaitGroup
	heartbeats.Go(func() { c.run(ctx) })

	for config.OnTerm == Ignore {
		<-term
	}
	<-term
	_ = server.Close() // it has nothing to say about a listener that is going away
	report(Event{At: time.Now(), Op: Closed})
	stop()
	heartbeats.Wait()
	if config.OnTerm == Cancel {
		c.cancel(context.WithoutCancel(ctx))
	}
	<-time.After(config.Linger)
	return nil
}

// listen answers every request with who it is.
func listen(ctx context.Context, config Config) (*http.Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", config.Address.String())
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	who, err := json.Marshal(Identity{App: config.App, ID: config.ID()})
	if err != nil {
		return nil, fmt.Errorf("encoding the identity: %w", err)
	}
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(who) // the caller's loss if it is gone
		}),
	}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return server, nil
}

// Identity is what an instance answers every request with.
type Identity struct {
	App string
	ID  string
}

// reporter writes events to standard output, whole lines at a time.
func reporter() func(Event) {
	var mu sync.Mutex
	lines := json.NewEncoder(os.Stdout)
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		_ = lines.Encode(e) // a parent that is gone takes this process with it
	}
}
