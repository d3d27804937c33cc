package eureka

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// awkward are the characters that one format or the other treats specially.
var awkward = []rune("_$.:-/ \\\"'<>&{}[]0aZß鍵🔑\t\n\r\x00\x01\x1f\x7f\u2028\ufffd\ufffe\uffff")

func anyText() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.OneOf(rapid.SampledFrom(awkward), rapid.Rune()), 0, 12, -1)
}

// textFor generates values that the format can carry.
func textFor(f Format) *rapid.Generator[string] {
	if f == JSON {
		return anyText()
	}
	return rapid.Map(anyText(), func(s string) string {
		return strings.Map(func(r rune) rune {
			if r != '\r' && !plainTextXML(r, utf8.RuneLen(r)) && referenceXML(r) == "" {
				return -1
			}
			return r
		}, s)
	})
}

func pairsFor(f Format) *rapid.Generator[[]Pair] {
	pair := rapid.Custom(func(t *rapid.T) Pair {
		return Pair{anyText().Draw(t, "key"), textFor(f).Draw(t, "value")}
	})
	pair = pair.Filter(func(p Pair) bool { return !reservedKey(p.Key) && p.Value != classEmptyMap })
	return rapid.Map(rapid.SliceOfNDistinct(pair, 0, 5, func(p Pair) string { return p.Key }), func(pairs []Pair) []Pair {
		if len(pairs) == 0 {
			return nil
		}
		return pairs
	})
}

func portGen() *rapid.Generator[Port] {
	return rapid.Custom(func(t *rapid.T) Port {
		return Port{rapid.IntRange(minPort, maxPort).Draw(t, "number"), rapid.Bool().Draw(t, "enabled")}
	})
}

func leaseGen() *rapid.Generator[Lease] {
	return rapid.Custom(func(t *rapid.T) Lease {
		secs := rapid.IntRange(1, MaxLeaseSecs)
		ms := rapid.Int64Range(0, MaxTimestampMS)
		return Lease{
			RenewalIntervalSecs: secs.Draw(t, "renewal"), DurationSecs: secs.Draw(t, "duration"),
			RegistrationMS: ms.Draw(t, "registration"), LastRenewalMS: ms.Draw(t, "lastRenewal"),
			EvictionMS: ms.Draw(t, "eviction"), ServiceUpMS: ms.Draw(t, "serviceUp"),
		}
	})
}

func dataCenterGen(f Format, id string) *rapid.Generator[DataCenter] {
	return rapid.Custom(func(t *rapid.T) DataCenter {
		dc := DataCenter{Name: rapid.SampledFrom([]string{DataCenterAmazon, DataCenterMyOwn, DataCenterNetflix}).Draw(t, "name")}
		if dc.Name == DataCenterAmazon {
			dc.Metadata = append(pairsFor(f).Draw(t, "amazon"), Pair{amazonInstanceID, id})
		}
		return dc
	})
}

// instanceFor generates instances in the form that decoding gives.
func instanceFor(f Format) *rapid.Generator[Instance] {
	return rapid.Custom(func(t *rapid.T) Instance {
		text := func(name string) string { return textFor(f).Draw(t, name) }
		status := rapid.SampledFrom(statusNames[:])
		ms := rapid.Int64Range(0, MaxTimestampMS)
		id := "i" + text("instanceId")
		return Instance{
			InstanceID: id, HostName: text("hostName"), App: strings.ToUpper(text("app")),
			AppGroupName: strings.ToUpper(text("appGroupName")), IPAddr: text("ipAddr"), SID: serviceID(text("sid")),
			Status: status.Draw(t, "status"), OverriddenStatus: status.Draw(t, "overriddenStatus"),
			Port: portGen().Draw(t, "port"), SecurePort: portGen().Draw(t, "securePort"),
			CountryID:  rapid.IntRange(1, 999).Draw(t, "countryId"),
			DataCenter: dataCenterGen(f, id).Draw(t, "dataCenter"), Lease: leaseGen().Draw(t, "lease"),
			Metadata: pairsFor(f).Draw(t, "metadata"), HomePageURL: text("homePageUrl"), StatusPageURL: text("statusPageUrl"),
			HealthCheckURL: text("healthCheckUrl"), SecureHealthCheckURL: text("secureHealthCheckUrl"),
			VIP: text("vipAddress"), SecureVIP: text("secureVipAddress"),
			CoordinatingServer: rapid.Bool().Draw(t, "coordinating"),
			LastUpdatedMS:      ms.Draw(t, "lastUpdated"), LastDirtyMS: ms.Draw(t, "lastDirty"),
			ActionType: rapid.SampledFrom([]ActionType{ActionAdded, ActionModified, ActionDeleted}).Draw(t, "action"),
			ASGName:    text("asgName"),
		}
	})
}

func TestDecodingUndoesEncoding(t *testing.T) {
	for _, f := range formats {
		t.Run(f.String(), rapid.MakeCheck(func(t *rapid.T) {
			want := instanceFor(f).Draw(t, "instance")
			doc := f.AppendInstanceDocument(nil, &want)
			if err := check(f, doc); err != nil {
				t.Fatalf("%v\n%s", err, doc)
			}
			got, err := DecodeInstance(doc)
			if err != nil {
				t.Fatalf("%v\n%s", err, doc)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("instance differs (-want +got):\n%s\n%s", diff, doc)
			}
		}))
	}
}

// checkDecoded states what holds for every body: an error is a DecodeError,
// and an instance is written so that strict clients can read it and decoding
// it again changes nothing.
func checkDecoded(t *testing.T, body []byte) {
	t.Helper()
	in, err := DecodeInstance(body)
	if err != nil {
		if fault, ok := errors.AsType[*DecodeError](err); !ok || fault.Reason == "" || len(fault.Error()) > 80 {
			t.Fatalf("error %v", err)
		}
		return
	}
	in.DataCenter.Name, _ = in.DataCenter.wire()
	in.DataCenter.Absent = false
	in.ActionType = in.ActionType.wire()
	renewal, duration := in.Lease.wireSecs()
	in.Lease.RenewalIntervalSecs, in.Lease.DurationSecs = int(renewal), int(duration)
	for _, f := range formats {
		doc := f.AppendInstanceDocument(nil, &in)
		if err := check(f, doc); err != nil {
			t.Fatalf("%s: %v\n%s", f, err, doc)
		}
		again, err := DecodeInstance(doc)
		if err != nil {
			t.Fatalf("%s: %v\n%s", f, err, doc)
		}
		if f == JSON && in.InstanceID != "" && len(in.DataCenter.Metadata) <= MaxMetadataPairs {
			if diff := cmp.Diff(in, again); diff != "" {
				t.Fatalf("decoding again changes the instance (-first +second):\n%s", diff)
			}
		}
	}
}

func FuzzDecodeJSON(f *testing.F) {
	for _, doc := range documents(JSON) {
		f.Add(doc)
	}
	for _, l := range leniencies {
		if l.json != "" {
			f.Add(registration(l.json))
		}
	}
	addRecorded(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := DecodeInstance(body); err == nil && strings.HasPrefix(string(body), "{") && !json.Valid(body) {
			t.Fatal("a body that is not JSON was read")
		}
		checkDecoded(t, body)
	})
}

func FuzzDecodeXML(f *testing.F) {
	for _, doc := range documents(XML) {
		f.Add(doc)
	}
	for _, l := range leniencies {
		if l.xml != "" {
			f.Add(registrationXML(l.xml))
		}
	}
	addRecorded(f)
	f.Fuzz(checkDecoded)
}

func FuzzXMLName(f *testing.F) {
	for _, p := range hostileInstance().Metadata {
		f.Add(p.Key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		name := EncodeXMLName(key)
		if key != "" && !isXMLName(name) {
			t.Fatalf("%q is no XML name", name)
		}
		if got, want := DecodeXMLName(name), string([]rune(key)); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		DecodeXMLName(key)
	})
}

func FuzzEncodeJSON(f *testing.F) {
	f.Add("id", "key", "value", "Amazon", "UP", 8080, int64(1700000000000))
	f.Add("", "", "", "", "", 0, int64(0))
	for _, p := range hostileInstance().Metadata {
		f.Add(p.Key, p.Key, p.Value, p.Key, p.Value, -1, int64(-1))
	}
	f.Fuzz(func(t *testing.T, id, key, value, name, status string, n int, ms int64) {
		in := Instance{
			InstanceID: id, HostName: value, App: name, AppGroupName: key, IPAddr: value, SID: key,
			Status: Status(status), OverriddenStatus: Status(value), Port: Port{n, true}, SecurePort: Port{-n, false}, CountryID: n,
			DataCenter: DataCenter{Name: name, Metadata: []Pair{{key, value}, {value, key}}},
			Lease:      Lease{RenewalIntervalSecs: n, DurationSecs: -n, RegistrationMS: ms},
			Metadata:   []Pair{{key, value}, {id, value}}, HomePageURL: value, VIP: key,
			LastUpdatedMS: ms, LastDirtyMS: -ms, ActionType: ActionType(status), ASGName: id,
		}
		for _, format := range allFormats {
			doc := appendDocument(format, "1", value, []Instance{in, in})
			if format.isJSON() && (!json.Valid(doc) || !utf8.Valid(doc)) {
				t.Fatalf("not valid JSON: %q", doc)
			}
			if err := check(format, doc); err != nil {
				t.Fatalf("%s: %v\n%q", format, err, doc)
			}
		}
	})
}
