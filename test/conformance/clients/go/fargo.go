package main

import (
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"

	"github.com/hudl/fargo"
)

// fargoClient uses fargo as its README says: the application sends heartbeats and
// polls.
type fargoClient struct {
	held
	s    settings
	conn fargo.EurekaConnection

	mu   sync.Mutex // the library keeps no lock of its own on an instance
	self *fargo.Instance
}

func newFargo(s settings, json bool) *fargoClient {
	c := &fargoClient{s: s, conn: fargoConnection(s), self: fargoInstance(s)}
	c.conn.UseJson = json
	if json {
		// In XML it has neither, which is as good a use.
		c.self.InstanceId = s.id
		c.self.LeaseInfo = fargo.LeaseInfo{RenewalIntervalInSecs: int32(s.renew.Seconds()), DurationInSecs: int32(s.leaseSeconds)}
	}
	return c
}

func fargoConnection(s settings) fargo.EurekaConnection {
	conn := fargo.NewConn(strings.TrimSuffix(s.url, "/"))
	conn.PollInterval = s.fetch
	return conn
}

func fargoInstance(s settings) *fargo.Instance {
	in := &fargo.Instance{
		HostName: s.host, App: s.app, IPAddr: s.ip, VipAddress: s.vip, Status: fargo.UP,
		Port: s.port, PortEnabled: true, SecurePort: s.securePort,
		DataCenterInfo: fargo.DataCenterInfo{Name: fargo.MyOwn},
	}
	for key, value := range s.metadata {
		in.SetMetadataString(key, value)
	}
	return in
}

func (c *fargoClient) module() string { return "github.com/hudl/fargo" }

func (c *fargoClient) id() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.self.Id()
}

func (c *fargoClient) start() error {
	if err := c.conn.RegisterInstance(c.self); err != nil {
		return fmt.Errorf("registering: %w", err)
	}
	every(c.s.renew, c.heartbeat)
	every(c.s.fetch, c.fetch)
	return nil
}

func (c *fargoClient) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.self == nil {
		return
	}
	err := c.conn.HeartBeatInstance(c.self)
	if code, ok := fargo.HTTPResponseStatusCode(err); ok && code == http.StatusNotFound {
		err = c.conn.ReregisterInstance(fargoAgain(c.self, c.s))
	}
	if err != nil {
		log.Print("renewing: ", err)
	}
}

// fargoAgain is the instance as the application knows it. The library has replaced
// it by what it read back.
func fargoAgain(in *fargo.Instance, s settings) *fargo.Instance {
	again := fargoInstance(s)
	again.InstanceId, again.LeaseInfo = in.InstanceId, in.LeaseInfo
	return again
}

func (c *fargoClient) fetch() {
	apps, err := c.conn.GetApps()
	if err != nil {
		log.Print("fetching: ", err)
		return
	}
	read := registry{}
	for name, app := range apps {
		if err := app.ParseAllMetadata(); err != nil {
			log.Print("reading metadata: ", err)
			return
		}
		for _, in := range app.Instances {
			read.add(name, in.InstanceId, showFargo(in))
		}
	}
	c.set(read)
}

func showFargo(in *fargo.Instance) instance {
	metadata := map[string]string{}
	for key, value := range in.Metadata.GetMap() {
		metadata[key] = fmt.Sprint(value)
	}
	delete(metadata, "@class")
	return instance{
		Status: string(in.Status), IPAddr: in.IPAddr, HostName: in.HostName, Port: in.Port, SecurePort: in.SecurePort,
		VIP: in.VipAddress, Metadata: metadata,
	}
}

// status registers the instance again with another status, which is all the
// library has for it.
func (c *fargoClient) status(status string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	again := fargoAgain(c.self, c.s)
	again.Status = fargo.StatusType(status)
	c.self = again
	return c.conn.ReregisterInstance(c.self)
}

func (c *fargoClient) override(status string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if status == "clear" {
		status = "UP" // it cannot remove an override, only set another
	}
	return c.conn.UpdateInstanceStatus(c.self, fargo.StatusType(status))
}

func (c *fargoClient) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	self := c.self
	c.self = nil
	return c.conn.DeregisterInstance(self)
}
