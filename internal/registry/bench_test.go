package registry

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// fill registers n instances in apps of ten and returns their keys.
func fill(tb testing.TB, e *Engine, now time.Time, n int) []Key {
	tb.Helper()
	keys := make([]Key, n)
	for i := range keys {
		rec := &Record{
			App: fmt.Sprintf("APP-%d", i/10), ID: fmt.Sprintf("host-%d:app:8080", i), IPAddr: "10.0.0.1", VIP: "app",
			Status: Up, Dirty: 1, Metadata: []Pair{{"management.port", "8081"}},
		}
		e.Register(now, Caller{}, rec, Binding{Partition: strconv.Itoa(i % 7)})
		keys[i] = rec.Key()
	}
	return keys
}

func BenchmarkRenew(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			now := time.Unix(1_700_000_000, 0)
			e := New(now, Options{})
			keys := fill(b, e, now, n)
			beat := Beat{Status: Up, Dirty: 1, HasDirty: true}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if r := e.Renew(now, Caller{}, keys[i%n], beat); r.Outcome != Done {
					b.Fatal(r)
				}
			}
		})
	}
}

func BenchmarkRenewParallel(b *testing.B) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	keys := fill(b, e, now, 10_000)
	beat := Beat{Status: Up, Dirty: 1, HasDirty: true}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			e.Renew(now, Caller{}, keys[i%len(keys)], beat)
		}
	})
}

func BenchmarkChange(b *testing.B) {
	for _, n := range []int{100, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			now := time.Unix(1_700_000_000, 0)
			e := New(now, Options{})
			keys := fill(b, e, now, n)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				v := Verdict{OutOfService: i/n%2 == 0, Reason: "Bench"}
				e.SetVerdict(now, keys[i%n], v)
				if i%n == 0 {
					now = now.Add(ChangeRetention + time.Second)
					e.Touch(now)
				}
			}
		})
	}
}

func BenchmarkTickWithNothingDue(b *testing.B) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	fill(b, e, now, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		e.Tick(now)
	}
}

func BenchmarkCheckpoint(b *testing.B) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	fill(b, e, now, 50_000)
	b.ReportAllocs()
	for b.Loop() {
		e.Checkpoint(now)
	}
}

func BenchmarkRestore(b *testing.B) {
	now := time.Unix(1_700_000_000, 0)
	e := New(now, Options{})
	fill(b, e, now, 50_000)
	cp := e.Checkpoint(now)
	b.ReportAllocs()
	for b.Loop() {
		if err := New(now, Options{}).Restore(now, cp); err != nil {
			b.Fatal(err)
		}
	}
}
