package dashboard_test

import (
	"net/http"
	"testing"
)

// BenchmarkPage is how much of the processor a page takes beside 10,000 instances.
func BenchmarkPage(b *testing.B) {
	h := registryOf(fleet(10_000, 300)...)
	for name, target := range map[string]string{"applications": "/", "instances": "/?view=instances&page=25", "search": "/?q=i-99"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if w := browse(b, h, target); w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
