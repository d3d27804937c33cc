package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

const many = 50_000

// crowd registers many instances, each in a pod of its own on one of 500 nodes.
func crowd(b *testing.B, a *App) {
	b.Helper()
	now := time.Now()
	for i := range many {
		app, pod := fmt.Sprintf("orders-%d", i/20), fmt.Sprintf("orders-%d-7d8f9c6b5-%05x", i/20, i)
		ip := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		a.cluster.ObservePod(now, evidence.Pod{
			UID: fmt.Sprintf("%08x-5f5c-4a51-9d2e-%012x", i*2654435761&0xffffffff, i), Namespace: "shop", Name: pod, Owner: app,
			Node: fmt.Sprintf("ip-10-0-%d-17.eu-central-1.compute.internal", i%500), IPs: []netip.Addr{ip}, Created: now.Add(-time.Hour),
			Phase: evidence.Running, Ready: true, ContainersReady: true,
			Containers: []evidence.Container{{Name: "app", Ports: []uint16{8080}, ID: fmt.Sprintf("containerd://%064x", i), Running: true}},
		})
		url := fmt.Sprintf("http://%s:8080/", ip)
		outcome := a.cluster.Register(now, ip, &registry.Record{
			App: registry.NewKey(app, "").App, ID: pod + ":" + app + ":8080", HostName: ip.String(), IPAddr: ip.String(), VIP: app, SecureVIP: app,
			Port: registry.Port{Number: 8080, Enabled: true}, SecurePort: registry.Port{Number: 443}, CountryID: 1,
			DataCenter: registry.DataCenter{Name: "MyOwn"}, HomePageURL: url, StatusPageURL: url + "actuator/info", HealthCheckURL: url + "actuator/health",
			Metadata: []registry.Pair{{Key: "management.port", Value: "8081"}, {Key: "zone", Value: "eu-central-1a"}, {Key: "version", Value: "1.42.0"}},
			Status:   registry.Up, Dirty: now.UnixMilli(), RenewalInterval: 30 * time.Second, LeaseDuration: 90 * time.Second,
		})
		if outcome != registry.Done {
			b.Fatal(outcome)
		}
	}
}

// BenchmarkHeartbeats sends the heartbeats of 50,000 instances, 1,667 a second, at
// a steady pace over 64 connections, while the registry is saved: never, as the
// process does it while something changes all the time, and one snapshot after the
// other.
func BenchmarkHeartbeats(b *testing.B) {
	for name, saving := range map[string]func(*keeper) func(context.Context){
		"quiet":  func(*keeper) func(context.Context) { return func(context.Context) {} },
		"saving": func(k *keeper) func(context.Context) { return k.run },
		"savingAlways": func(k *keeper) func(context.Context) {
			return func(ctx context.Context) {
				for ctx.Err() == nil {
					k.save(k.file.SaveGently)
				}
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			a, err := New(b.Context(), kept(filepath.Join(b.TempDir(), "registry.snapshot")), logr.Discard())
			if err != nil {
				b.Fatal(err)
			}
			crowd(b, a)
			k := a.keeper
			a.keeper = nil
			a.gate.Loaded()
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- a.Run(ctx) }()
			var wg sync.WaitGroup
			wg.Go(func() { saving(k)(ctx) })
			wg.Go(func() { change(ctx, a) })
			var all []time.Duration
			for b.Loop() {
				all = append(all, beats(b, a, 5*time.Second)...)
			}
			cancel()
			wg.Wait()
			if err := <-done; err != nil {
				b.Fatal(err)
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(all[len(all)*999/1000].Microseconds())/1000, "p99.9-ms")
		})
	}
}

// change changes something ten times a second.
func change(ctx context.Context, a *App) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			a.cluster.Register(now, netip.Addr{}, &registry.Record{App: "CHANGING", ID: "x", Dirty: int64(i), Status: registry.Up})
		}
	}
}

// beats sends heartbeats at the pace of many instances and returns how long each
// took from the moment it was due.
func beats(b *testing.B, a *App, length time.Duration) []time.Duration {
	b.Helper()
	const connections = 64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	keys := make([]registry.Key, 0, many)
	for i := range a.cluster.Snapshot().All() {
		keys = append(keys, i.Key())
	}
	period := 30 * time.Second / many
	took := make([][]time.Duration, connections)
	start := time.Now()
	var wg sync.WaitGroup
	for c := range connections {
		wg.Go(func() {
			for i := c; time.Duration(i)*period < length; i += connections {
				due := start.Add(time.Duration(i) * period)
				<-time.After(time.Until(due))
				key := keys[(i*7919)%len(keys)]
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPut, "http://"+a.Addr().String()+"/eureka/apps/"+key.App+"/"+key.ID+"?status=UP", http.NoBody)
				if err != nil {
					b.Error(err)
					return
				}
				resp, err := client.Do(req)
				if err != nil || resp.StatusCode != http.StatusOK {
					b.Errorf("%v %v", resp, err)
					return
				}
				_ = resp.Body.Close() // it is empty
				took[c] = append(took[c], time.Since(due))
			}
		})
	}
	wg.Wait()
	return slices.Concat(took...)
}

// BenchmarkStart measures from the start of a process with a snapshot of 50,000
// instances to the end of its first complete list, packed and unpacked.
func BenchmarkStart(b *testing.B) {
	path := filepath.Join(b.TempDir(), "registry.snapshot")
	a, err := New(b.Context(), kept(path), logr.Discard())
	if err != nil {
		b.Fatal(err)
	}
	crowd(b, a)
	a.gate.Loaded()
	a.keeper.save(a.keeper.file.Save)
	a.close()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, encoding := range []string{"gzip", "identity"} {
		b.Run(encoding, func(b *testing.B) {
			var cpu time.Duration
			for b.Loop() {
				before := cpuTime(b)
				startAndRead(b, path, encoding)
				cpu += cpuTime(b) - before
			}
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(info.Size())/1e6, "file-MB")
		})
	}
}

func startAndRead(b *testing.B, path, encoding string) {
	b.Helper()
	a, err := New(b.Context(), kept(path), logr.Discard())
	if err != nil {
		b.Fatal(err)
	}
	a.keeper = nil // the last snapshot is no part of the start
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.Addr().String()+"/eureka/apps", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", encoding)
	req.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatal(resp, err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || n < 1<<20 {
		b.Fatal(n, err)
	}
	_ = resp.Body.Close() // it was read to its end
	b.StopTimer()
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

// cpuTime is what the process has used: on a machine that others use, too, it says
// more than the time that passed.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
