package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// instance and registry are what the control server shows.
type instance struct {
	Status     string            `json:"status"`
	IPAddr     string            `json:"ipAddr"`
	HostName   string            `json:"hostName"`
	Port       int               `json:"port"`
	SecurePort int               `json:"securePort"`
	VIP        string            `json:"vipAddress"`
	Metadata   map[string]string `json:"metadata"`

	action string
}

type registry map[string]map[string]instance

func (r registry) clone() registry {
	all := registry{}
	for app, instances := range r {
		all[app] = maps.Clone(instances)
	}
	return all
}

func (r registry) put(app, id string, in instance) {
	if r[app] == nil {
		r[app] = map[string]instance{}
	}
	r[app][id] = in
}

func (r registry) drop(app, id string) {
	delete(r[app], id)
	if len(r[app]) == 0 {
		delete(r, app)
	}
}

// hash is what clients compare with the registry's apps__hashcode.
func (r registry) hash() string {
	counts := map[string]int{}
	for _, instances := range r {
		for _, in := range instances {
			counts[in.Status]++
		}
	}
	var b strings.Builder
	for _, status := range slices.Sorted(maps.Keys(counts)) {
		b.WriteString(status + "_" + strconv.Itoa(counts[status]) + "_")
	}
	return b.String()
}

// fetch reads as the client does. What cannot be fetched changes nothing; what
// cannot be decoded is kept as the lane's failure.
func (e *emulator) fetch(ctx context.Context) {
	var read registry
	var err error
	switch reads := e.p.reads; {
	case reads.byApp != "":
		read, err = e.fetchApps(ctx)
	case reads.delta != "" && e.full > 0:
		read, err = e.fetchDelta(ctx)
	default:
		read, err = e.fetchFull(ctx)
	}
	if err != nil {
		log.Printf("%s: reading: %v", e.s["LANE_CLIENT"], err)
	}
	if read == nil {
		if err != nil && ctx.Err() == nil {
			e.mu.Lock()
			defer e.mu.Unlock()
			if _, ok := err.(decodeError); ok { //nolint:errorlint // made here and not wrapped
				e.failure = err
			}
		}
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held, e.failure = read, nil
}

func (e *emulator) fetchFull(ctx context.Context) (registry, error) {
	doc, err := e.get(ctx, e.p.reads.full, "applications")
	if err != nil || doc == nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.full++
	read := registry{}
	for _, in := range doc.instances {
		if e.p.reads.shows(in.instance) {
			read.put(in.app, in.id, in.instance)
		}
	}
	return read, nil
}

// fetchDelta applies a delta and falls back to a full fetch if the result is not
// what the registry has.
func (e *emulator) fetchDelta(ctx context.Context) (registry, error) {
	doc, err := e.get(ctx, e.p.reads.delta, "applications")
	if err != nil || doc == nil {
		return nil, err
	}
	e.mu.Lock()
	e.deltas++
	read := e.held.clone()
	e.mu.Unlock()
	for _, in := range doc.instances {
		switch in.action {
		case "ADDED", "MODIFIED":
			read.put(in.app, in.id, in.instance)
		case "DELETED":
			read.drop(in.app, in.id)
		default:
			return nil, decodeError{fmt.Errorf("a delta has the action %q", in.action)}
		}
	}
	if hash := read.hash(); hash != doc.hash {
		log.Printf("%s: the delta leads to %q and the registry has %q", e.s["LANE_CLIENT"], hash, doc.hash)
		e.mu.Lock()
		e.mismatches++
		e.mu.Unlock()
		return e.fetchFull(ctx)
	}
	return read, nil
}

func (e *emulator) fetchApps(ctx context.Context) (registry, error) {
	read := registry{}
	for app := range strings.SplitSeq(e.s["LANE_WATCH"], ",") {
		doc, err := e.get(ctx, e.p.reads.byApp, "application", "WATCHED", app)
		if err != nil {
			return nil, err
		}
		if doc == nil {
			continue
		}
		for _, in := range doc.instances {
			read.put(in.app, in.id, in.instance)
		}
	}
	return read, nil
}

// get fetches and decodes one document; nil if the registry knows of nothing there.
func (e *emulator) get(ctx context.Context, path, root string, more ...string) (*document, error) {
	status, body, err := e.send(ctx, request{method: http.MethodGet, path: path, header: e.p.reads.header}, more...)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound && root == "application":
		return nil, nil //nolint:nilnil // an application that is not there is no failure
	case status != http.StatusOK:
		return nil, fmt.Errorf("it was answered %d", status)
	}
	return e.p.reads.decode(body, root)
}
