package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// host is where a client says that it runs.
type host struct{ name, ip string }

// client is one process with a Eureka client.
type client struct {
	base    string
	app, id string
	host    host
	web     *http.Client
	traffic *traffic
	fetched bool // it has a list, and asks for deltas
}

// fleet are all clients.
type fleet struct{ running sync.WaitGroup }

func (f *fleet) wait() { f.running.Wait() }

// perApp is how many instances an application has.
const perApp = 10

// startFleet registers every client, a few at a time, and leaves them running until
// ctx ends.
func startFleet(ctx context.Context, s settings, hosts []host, t *traffic) (*fleet, error) {
	f := &fleet{}
	clients := make([]*client, len(hosts))
	var group sync.WaitGroup
	errs := make([]error, len(hosts))
	slots := make(chan struct{}, 16)
	for i, h := range hosts {
		app := fmt.Sprintf("SERVICE-%04d", i/perApp)
		c := &client{base: s.url, app: app, id: h.name + ":" + strings.ToLower(app) + ":8080", host: h, traffic: t}
		c.web = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}}
		clients[i] = c
		slots <- struct{}{}
		group.Go(func() {
			errs[i] = c.register(ctx)
			<-slots
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return f, fmt.Errorf("registering: %w", err)
	}
	for i, c := range clients {
		restless := i*100 < s.churn*len(clients)
		f.running.Go(func() { c.run(ctx, restless) })
	}
	return f, nil
}

// run renews and fetches; a restless one leaves each minute and comes back at once.
func (c *client) run(ctx context.Context, restless bool) {
	defer c.web.CloseIdleConnections()
	if pass(ctx, rand.N(interval)) != nil {
		return
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for turn := 0; ; turn++ {
		c.beat(ctx, restless && turn%2 == 1)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (c *client) beat(ctx context.Context, leave bool) {
	err := c.ask(ctx, http.MethodPut, c.path()+"?status=UP", "", http.StatusOK)
	if leave {
		err = errors.Join(err, c.ask(ctx, http.MethodDelete, c.path(), "", http.StatusOK), c.register(ctx))
	}
	what := "/apps/delta"
	if !c.fetched {
		what = "/apps/"
	}
	if fetchErr := c.ask(ctx, http.MethodGet, what, "", http.StatusOK); fetchErr != nil {
		err = errors.Join(err, fetchErr)
	} else {
		c.fetched = true
	}
	if err != nil && ctx.Err() == nil {
		c.traffic.failed.Add(1)
	}
}

func (c *client) path() string { return "/apps/" + c.app + "/" + c.id }

// record is as long as what Spring registers.
const record = `{"instance":{"instanceId":%q,"hostName":%q,"app":%q,"ipAddr":%q,"vipAddress":%q,"secureVipAddress":%[5]q,"status":"UP",
"port":{"$":8080,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},"countryId":1,
"homePageUrl":"http://%[4]s:8080/","statusPageUrl":"http://%[4]s:8080/actuator/info","healthCheckUrl":"http://%[4]s:8080/actuator/health",
"dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
"leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90},
"metadata":{"management.port":"8080","version":"2026.11.4","zone":"zone-a","jmx.port":"9010"}}}`

func (c *client) register(ctx context.Context) error {
	body := fmt.Sprintf(record, c.id, c.host.ip, c.app, c.host.ip, strings.ToLower(c.app))
	return c.ask(ctx, http.MethodPost, "/apps/"+c.app, body, http.StatusNoContent)
}

func (c *client) ask(ctx context.Context, method, path, body string, want int) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := c.web.Do(req)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, resp.Body)
	err = errors.Join(err, resp.Body.Close())
	c.traffic.requests.Add(1)
	c.traffic.received.Add(n)
	if resp.StatusCode != want {
		err = errors.Join(err, fmt.Errorf("%s %s is answered %s", method, path, resp.Status))
	}
	return err
}
