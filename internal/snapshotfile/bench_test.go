package snapshotfile

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
)

// crowd is a checkpoint of 50,000 instances outside pods.
func crowd(b *testing.B) *cluster.Checkpoint {
	b.Helper()
	now := time.Unix(1_700_000_000, 0)
	reg := registry.New(now, registry.Options{})
	c := cluster.New(reg, cluster.Options{})
	for i := range 50_000 {
		host := fmt.Sprintf("orders-%d-7d8f9c6b5-%05x", i/20, i)
		url := "http://" + host + ":8080/"
		c.Register(now, netip.Addr{}, &registry.Record{
			App: fmt.Sprintf("ORDERS-%d", i/20), ID: host + ":orders:8080", HostName: host, IPAddr: "10.0.0.1", VIP: "orders", SecureVIP: "orders",
			Port: registry.Port{Number: 8080, Enabled: true}, SecurePort: registry.Port{Number: 443}, DataCenter: registry.DataCenter{Name: "MyOwn"},
			HomePageURL: url, StatusPageURL: url + "actuator/info", HealthCheckURL: url + "actuator/health", Status: registry.Up,
			Metadata: []registry.Pair{{Key: "management.port", Value: "8081"}, {Key: "zone", Value: "eu-central-1a"}},
		})
	}
	return c.Checkpoint(now)
}

func BenchmarkSave(b *testing.B) {
	cp, f := crowd(b), New(filepath.Join(b.TempDir(), "registry.snapshot"))
	b.ReportAllocs()
	for b.Loop() {
		size, err := f.Save(cp)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size), "bytes")
	}
}

func BenchmarkLoad(b *testing.B) {
	f := New(filepath.Join(b.TempDir(), "registry.snapshot"))
	if _, err := f.Save(crowd(b)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Load(); err != nil {
			b.Fatal(err)
		}
	}
}
