package instance

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Farewell is what an instance does when it is asked to end.
type Farewell string

// The farewells.
const (
	// Cancel stops listening at once and deregisters, like a stock client whose
	// application shuts down in order.
	Cancel Farewell = "Cancel"
	// Vanish stops listening at once and tells nobody.
	Vanish Farewell = "Vanish"
	// Ignore goes on as if nothing had been asked.
	Ignore Farewell = "Ignore"
)

// Config says what an instance is and how it behaves.
type Config struct {
	// App is the application name, in the case the client sends.
	App string
	// HostName is reported as such, and begins the instance id.
	HostName string
	// Address is where the instance listens; it talks to the registry from there.
	Address netip.AddrPort
	// Registry is the base URL, for example http://10.99.0.1:8761/eureka.
	Registry string
	// RenewalInterval and LeaseDuration are 30 s and 90 s unless set.
	RenewalInterval time.Duration
	LeaseDuration   time.Duration
	// RegisterEvery makes the client register anew with every n-th heartbeat; zero
	// means only when the registry asks for it.
	RegisterEvery int
	// MaxBackoff, if set, makes the client double the interval with every heartbeat
	// that gets no answer, up to this, and go back with the first answer.
	MaxBackoff time.Duration
	// OnTerm is Cancel unless set.
	OnTerm Farewell
	// Linger passes between the farewell and the end of the process, as the shut
	// down of a real application takes its time.
	Linger time.Duration
}

// ID is the instance id, in the form that Spring clients choose.
func (c Config) ID() string {
	return fmt.Sprintf("%s:%s:%d", c.HostName, strings.ToLower(c.App), c.Address.Port())
}

func (c Config) withDefaults() Config {
	if c.RenewalInterval == 0 {
		c.RenewalInterval = 30 * time.Second
	}
	if c.LeaseDuration == 0 {
		c.LeaseDuration = 90 * time.Second
	}
	if c.OnTerm == "" {
		c.OnTerm = Cancel
	}
	return c
}

// Op is what an instance did.
type Op string

// The operations.
const (
	// Listening: the instance answers requests from now on.
	Listening Op = "Listening"
	// Closed: it has stopped listening.
	Closed Op = "Closed"
	// Registered, Renewed and Cancelled: the registry was told so.
	Registered Op = "Registered"
	Renewed    Op = "Renewed"
	Cancelled  Op = "Cancelled"
)

// Event is one thing an instance did.
type Event struct {
	At time.Time
	Op Op
	// Code is the registry's answer, 0 when there was none.
	Code int `json:",omitempty"`
	// Error says why there was no answer.
	Error string `json:",omitempty"`
}

// Accepted reports whether the registry took note that the instance is UP.
func (e Event) Accepted() bool {
	return (e.Op == Registered || e.Op == Renewed) && (e.Code == 200 || e.Code == 204)
}
