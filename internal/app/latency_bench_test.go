package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/evidence"
	"github.com/kureka/kureka/internal/registry"
)

const (
	loadPods    = 10_000
	loadPerApp  = 100
	loadChanges = 500 // a second
	loadReaders = 500 // one application a second each
)

// BenchmarkEvidenceToAnswer measures from a watch handler being handed a pod whose
// end has begun to a client having read that instance, decoded, over HTTP, while
// 500 other pods change and 500 clients poll an application of 100 instances every
// second.
func BenchmarkEvidenceToAnswer(b *testing.B) {
	a := underLoad(b)
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	every(ctx, &wg, time.Second/loadChanges, func(i int) { // the second half of the pods; the first is measured
		p := loadPod(loadPods/2 + i%(loadPods/2))
		p.Deleting = i/(loadPods/2)%2 == 0
		a.cluster.ObservePod(time.Now(), p)
	})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadReaders}}
	for r := range loadReaders {
		path := fmt.Sprintf("/eureka/apps/APP-%d", r%(loadPods/loadPerApp))
		wg.Go(func() {
			if pass(ctx, time.Duration(r)*time.Second/loadReaders) {
				every(ctx, &wg, time.Second, func(int) { _ = fetchJSON(ctx, client, a, path, nil) })
			}
		})
	}
	var took []time.Duration
	i := 0
	for b.Loop() {
		p := loadPod(i % (loadPods / 2))
		p.Deleting = i/(loadPods/2)%2 == 0
		want := map[bool]string{true: "OUT_OF_SERVICE", false: "UP"}[p.Deleting]
		var doc struct{ Instance struct{ Status string } }
		start := time.Now()
		a.cluster.ObservePod(start, p)
		err := fetchJSON(ctx, client, a, "/eureka/apps/"+loadApp(i%(loadPods/2))+"/"+p.Name, &doc)
		took = append(took, time.Since(start))
		if err != nil || doc.Instance.Status != want {
			b.Fatalf("%s is %q, want %q: %v", p.Name, doc.Instance.Status, want, err)
		}
		i++
		pass(ctx, 5*time.Millisecond)
	}
	cancel()
	wg.Wait()
	slices.Sort(took)
	for name, share := range map[string]int{"p50-ms": 50, "p99-ms": 99, "max-ms": 100} {
		b.ReportMetric(float64(took[max(0, len(took)*share/100-1)].Microseconds())/1000, name)
	}
}

// underLoad returns a running app that knows the pods and their instances.
func underLoad(b *testing.B) *App {
	b.Helper()
	o := options(Standalone)
	a, _ := start(b, o)
	a.cluster.SetPodsReadable(time.Now(), true)
	for i := range loadPods {
		p := loadPod(i)
		a.cluster.ObservePod(time.Now(), p)
		rec := &registry.Record{
			App: loadApp(i), ID: p.Name, HostName: p.Name, IPAddr: p.IPs[0].String(), VIP: loadApp(i), Status: registry.Up,
			Port: registry.Port{Number: 8080, Enabled: true}, RenewalInterval: 30 * time.Second, LeaseDuration: 24 * time.Hour,
		}
		if got := a.cluster.Register(time.Now(), p.IPs[0], rec); got != registry.Done {
			b.Fatalf("registering %s: %v", p.Name, got)
		}
	}
	return a
}

func loadApp(i int) string { return fmt.Sprintf("APP-%d", i/loadPerApp) }

func loadPod(i int) evidence.Pod {
	return evidence.Pod{
		UID: fmt.Sprintf("uid-%d", i), Namespace: "load", Name: fmt.Sprintf("pod-%d", i), Node: fmt.Sprintf("node-%d", i%200),
		IPs: []netip.Addr{netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})}, Phase: evidence.Running, Ready: true,
	}
}

// every calls do at that pace until the context ends.
func every(ctx context.Context, wg *sync.WaitGroup, pace time.Duration, do func(int)) {
	wg.Go(func() {
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				do(i)
			}
		}
	})
}

// pass reports whether the time passed before the context ended.
func pass(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// fetchJSON reads an answer as a client does, whole and decoded.
func fetchJSON(ctx context.Context, client *http.Client, a *App, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.Addr().String()+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, resp.Status)
	}
	if into == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
