package main

import (
	"errors"
	"log"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/go-kit/kit/sd"
	"github.com/go-kit/kit/sd/eureka"
	kitlog "github.com/go-kit/log"
	"github.com/hudl/fargo"
)

// goKitClient uses sd/eureka: a registrar for itself, and an instancer for each
// application it calls.
type goKitClient struct {
	s         settings
	conn      fargo.EurekaConnection
	self      *fargo.Instance
	registrar *eureka.Registrar

	mu   sync.Mutex
	apps map[string][]string // addresses by application
}

func newGoKit(s settings) *goKitClient {
	c := &goKitClient{s: s, conn: fargoConnection(s), self: fargoInstance(s), apps: map[string][]string{}}
	c.self.LeaseInfo = fargo.LeaseInfo{RenewalIntervalInSecs: int32(s.renew.Seconds()), DurationInSecs: int32(s.leaseSeconds)}
	c.self.UniqueID = func(fargo.Instance) string { return s.id }
	c.self.InstanceId = s.id
	return c
}

func (c *goKitClient) module() string { return "github.com/go-kit/kit" }
func (c *goKitClient) id() string     { return c.s.id }

func (c *goKitClient) start() error {
	logger := kitlog.NewLogfmtLogger(os.Stderr)
	c.registrar = eureka.NewRegistrar(&c.conn, c.self, logger)
	c.registrar.Register()
	for _, app := range c.s.watch {
		go c.follow(strings.ToUpper(app), eureka.NewInstancer(&c.conn, app, logger))
	}
	return nil
}

// follow keeps the last instances on an error, as go-kit's own endpointer does. An
// application that the registry does not know has none.
func (c *goKitClient) follow(app string, instancer *eureka.Instancer) {
	events := make(chan sd.Event)
	go instancer.Register(events)
	for event := range events {
		c.mu.Lock()
		switch _, unknown := errors.AsType[fargo.AppNotFoundError](event.Err); {
		case unknown:
			delete(c.apps, app)
		case event.Err != nil:
			log.Print("following ", app, ": ", event.Err)
		default:
			c.apps[app] = event.Instances
		}
		c.mu.Unlock()
	}
}

func (c *goKitClient) registry() registry {
	c.mu.Lock()
	apps := maps.Clone(c.apps)
	c.mu.Unlock()
	shown := registry{}
	for app, addresses := range apps {
		for _, address := range addresses {
			ip, port, err := net.SplitHostPort(address)
			if err != nil {
				log.Print("reading an address: ", err)
				continue
			}
			number, err := strconv.Atoi(port)
			if err != nil {
				log.Print("reading a port: ", err)
				continue
			}
			shown.add(app, address, instance{IPAddr: ip, Port: number})
		}
	}
	return shown
}

func (c *goKitClient) status(string) error   { return errUnsupported }
func (c *goKitClient) override(string) error { return errUnsupported }

func (c *goKitClient) stop() error {
	c.registrar.Deregister()
	return nil
}
