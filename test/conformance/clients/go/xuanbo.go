package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/xuanbo/eureka-client"
)

// xuanboClient uses eureka-client, which does everything by itself and ends the
// process when it is told to by a signal.
type xuanboClient struct {
	s      settings
	client *eureka_client.Client
}

func newXuanbo(s settings) *xuanboClient {
	metadata := map[string]any{}
	for key, value := range s.metadata {
		metadata[key] = value
	}
	return &xuanboClient{s: s, client: eureka_client.NewClient(&eureka_client.Config{
		DefaultZone: s.url, App: s.app, InstanceID: s.id, HostName: s.host, IP: s.ip, Port: s.port, Metadata: metadata,
		RenewalIntervalInSecs: int(s.renew.Seconds()), RegistryFetchIntervalSeconds: int(s.fetch.Seconds()),
		DurationInSecs: s.leaseSeconds,
	})}
}

func (c *xuanboClient) module() string { return "github.com/xuanbo/eureka-client" }
func (c *xuanboClient) id() string     { return c.s.id }

func (c *xuanboClient) start() error {
	c.client.Start()
	return nil
}

func (c *xuanboClient) registry() registry {
	shown := registry{}
	apps := c.client.Applications
	if apps == nil {
		return shown
	}
	for _, app := range apps.Applications {
		for _, in := range app.Instances {
			metadata := map[string]string{}
			for key, value := range in.Metadata {
				metadata[key] = fmt.Sprint(value)
			}
			delete(metadata, "@class")
			shown.add(app.Name, in.InstanceID, instance{
				Status: in.Status, IPAddr: in.IPAddr, HostName: in.HostName, Port: in.Port.Port, SecurePort: in.SecurePort.Port,
				VIP: in.VipAddress, Metadata: metadata,
			})
		}
	}
	return shown
}

func (c *xuanboClient) status(string) error   { return errUnsupported }
func (c *xuanboClient) override(string) error { return errUnsupported }

// stop leaves the answer of the control server time to get out: the library ends
// the process after it has deregistered.
func (c *xuanboClient) stop() error {
	time.AfterFunc(50*time.Millisecond, func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGTERM) })
	return nil
}
