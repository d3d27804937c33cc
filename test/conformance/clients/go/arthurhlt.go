package main

import (
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/ArthurHlt/go-eureka-client/eureka"
)

// arthurHltClient uses go-eureka-client as its README says: the instance has no id
// of its own and goes by its host name.
type arthurHltClient struct {
	held
	s      settings
	client *eureka.Client

	mu      sync.Mutex
	self    *eureka.InstanceInfo
	stopped bool
}

func newArthurHlt(s settings) *arthurHltClient {
	self := eureka.NewInstanceInfo(s.host, s.app, s.ip, s.port, uint(s.leaseSeconds), false)
	self.VipAddress = s.vip
	self.Metadata = &eureka.MetaData{Map: s.metadata}
	return &arthurHltClient{s: s, client: eureka.NewClient([]string{strings.TrimSuffix(s.url, "/")}), self: self}
}

func (c *arthurHltClient) module() string { return "github.com/ArthurHlt/go-eureka-client" }
func (c *arthurHltClient) id() string     { return c.s.host }

func (c *arthurHltClient) start() error {
	if err := c.client.RegisterInstance(c.s.app, c.self); err != nil {
		return fmt.Errorf("registering: %w", err)
	}
	every(c.s.renew, c.heartbeat)
	every(c.s.fetch, c.fetch)
	return nil
}

func (c *arthurHltClient) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	err := c.client.SendHeartbeat(c.s.app, c.s.host)
	if failed, ok := errors.AsType[*eureka.EurekaError](err); ok && failed.ErrorCode == eureka.ErrCodeInstanceNotFound {
		err = c.client.RegisterInstance(c.s.app, c.self)
	}
	if err != nil {
		log.Print("renewing: ", err)
	}
}

func (c *arthurHltClient) fetch() {
	apps, err := c.client.GetApplications()
	if err != nil {
		log.Print("fetching: ", err)
		return
	}
	read := registry{}
	for _, app := range apps.Applications {
		for _, in := range app.Instances {
			// Whoever uses the library, Traefik among them, takes these for given.
			read.add(app.Name, in.InstanceID, instance{
				Status: in.Status, IPAddr: in.IpAddr, HostName: in.HostName, Port: in.Port.Port, SecurePort: in.SecurePort.Port,
				VIP: in.VipAddress, Metadata: in.Metadata.Map,
			})
		}
	}
	c.set(read)
}

// status registers the instance again with another status, which is all the
// library has for it.
func (c *arthurHltClient) status(status string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.self.Status = status
	return c.client.RegisterInstance(c.s.app, c.self)
}

func (c *arthurHltClient) override(string) error { return errUnsupported }

func (c *arthurHltClient) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	return c.client.UnregisterInstance(c.s.app, c.s.host)
}
