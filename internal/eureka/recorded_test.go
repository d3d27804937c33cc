package eureka

import (
	"testing"

	"github.com/kureka/kureka/test/conformance/recorded"
)

// recordedRegistrations are the bodies that real clients registered with.
func recordedRegistrations(tb testing.TB) map[string][][]byte {
	tb.Helper()
	all, err := recorded.All()
	if err != nil {
		tb.Fatal(err)
	}
	bodies := map[string][][]byte{}
	for _, r := range all {
		if r.Kind == "register" {
			bodies[r.Client] = append(bodies[r.Client], r.Body)
		}
	}
	if len(bodies) == 0 {
		tb.Fatal("no registration of any client is recorded")
	}
	return bodies
}

// addRecorded makes seeds of them, in either format.
func addRecorded(f *testing.F) {
	f.Helper()
	for _, bodies := range recordedRegistrations(f) {
		for _, body := range bodies {
			f.Add(body)
		}
	}
}

// What a real client registers is complete, and what the registry then says of it
// is read by the strictest of the others.
func TestRecorded_registrationsAreReadAndToldOn(t *testing.T) {
	t.Parallel()
	for client, bodies := range recordedRegistrations(t) {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			for _, body := range bodies {
				in, err := DecodeInstance(body)
				if err != nil {
					t.Fatalf("decoding %s: %v", body, err)
				}
				if err := Validate(&in, in.App); err != nil {
					t.Errorf("validating %s: %v", body, err)
				}
				if in.Status == "" || in.InstanceID == "" || in.Port.Number == 0 || len(in.Metadata) == 0 {
					t.Errorf("something was lost of %s: %+v", body, in)
				}
				for _, f := range allFormats {
					if err := check(f, appendDocument(f, "1", "UP_1_", []Instance{in})); err != nil {
						t.Errorf("%s: %v", f, err)
					}
				}
			}
		})
	}
}
