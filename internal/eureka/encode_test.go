package eureka

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// formats are those that carry everything, so that decoding undoes them.
var formats = []Format{JSON, XML}

var allFormats = []Format{JSON, XML, CompactJSON, CompactXML}

func TestDocumentsEqualTheirGoldenFiles(t *testing.T) {
	for _, f := range allFormats {
		for name, doc := range documents(f) {
			t.Run(name+"."+f.String(), func(t *testing.T) {
				path := filepath.Join("testdata", "golden", name+"."+f.String())
				if *update {
					if err := os.WriteFile(path, doc, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(doc)); diff != "" {
					t.Errorf("document differs (-golden +written):\n%s", diff)
				}
			})
		}
	}
}

func TestStrictReadersAcceptEveryDocument(t *testing.T) {
	for _, f := range allFormats {
		for name, doc := range documents(f) {
			if err := check(f, doc); err != nil {
				t.Errorf("%s.%s: %v\n%s", name, f, err, doc)
			}
		}
	}
}

func TestRegistryMatchesTheReferenceSample(t *testing.T) {
	want := `{"applications":{"versions__delta":"1","apps__hashcode":"UP_1_","application":[
 {"name":"ORDERS","instance":[
  {"instanceId":"10.1.2.3:orders:8080","hostName":"node-3.example","app":"ORDERS","ipAddr":"10.1.2.3",
   "status":"UP","overriddenStatus":"UNKNOWN",
   "port":{"$":8080,"@enabled":"true"},"securePort":{"$":8443,"@enabled":"false"},"countryId":1,
   "dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},
   "leaseInfo":{"renewalIntervalInSecs":30,"durationInSecs":90,"registrationTimestamp":1700000000000,
     "lastRenewalTimestamp":1700000030000,"evictionTimestamp":0,"serviceUpTimestamp":1700000000500},
   "metadata":{"zone":"eu-1"},
   "homePageUrl":"http://node-3.example:8080/","statusPageUrl":"http://node-3.example:8080/info",
   "healthCheckUrl":"http://node-3.example:8080/health","vipAddress":"orders","secureVipAddress":"orders",
   "isCoordinatingDiscoveryServer":"false","lastUpdatedTimestamp":"1700000000500",
   "lastDirtyTimestamp":"1700000000000","actionType":"ADDED"}]}]}}`
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(want)); err != nil {
		t.Fatal(err)
	}
	got := appendDocument(JSON, "1", "UP_1_", []Instance{plainInstance()})
	if diff := cmp.Diff(compact.String(), string(got)); diff != "" {
		t.Errorf("registry differs (-want +got):\n%s", diff)
	}
}

func TestEmptyRegistryHasBothHeadersAndAnArray(t *testing.T) {
	want := map[Format]string{
		JSON: `{"applications":{"versions__delta":"1","apps__hashcode":"","application":[]}}`,
		XML:  `<applications><versions__delta>1</versions__delta><apps__hashcode></apps__hashcode></applications>`,
	}
	for _, f := range formats {
		if got := string(appendDocument(f, "1", "")); got != want[f] {
			t.Errorf("%s: got %s, want %s", f, got, want[f])
		}
	}
}

func TestValuesOutsideTheClosedSetsAreNormalised(t *testing.T) {
	in := plainInstance()
	in.Status, in.OverriddenStatus, in.ActionType = "up", "PAUSED", "MOVED"
	in.DataCenter = DataCenter{Name: "Garage", Metadata: []Pair{{"rack", "7"}}}
	in.Lease.RenewalIntervalSecs, in.Lease.DurationSecs = 0, -5
	in.CountryID = 0
	for _, f := range formats {
		doc := f.AppendInstanceDocument(nil, &in)
		if err := check(f, doc); err != nil {
			t.Errorf("%s: %v\n%s", f, err, doc)
		}
	}
	got := string(AppendInstanceJSON(nil, &in))
	for _, want := range []string{
		`"status":"UNKNOWN","overriddenStatus":"UNKNOWN"`, `"actionType":"ADDED"`, `"name":"MyOwn"}`,
		`"renewalIntervalInSecs":30,"durationInSecs":90`, `"countryId":1`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestAmazonWithoutMetadataIsWrittenWithItsMachineID(t *testing.T) {
	in := amazonInstance()
	in.DataCenter.Metadata = nil
	want := map[Format]string{
		JSON: `"name":"Amazon","metadata":{"instance-id":"i-0abc"}}`,
		XML:  `<name>Amazon</name><metadata><instance-id>i-0abc</instance-id></metadata></dataCenterInfo>`,
	}
	for _, f := range formats {
		if got := string(f.AppendInstance(nil, &in)); !strings.Contains(got, want[f]) {
			t.Errorf("no %s in %s", want[f], got)
		}
	}
}

func TestMetadataOfReservedKeysOnlyIsWrittenAsEmpty(t *testing.T) {
	in := plainInstance()
	in.Metadata = []Pair{{"@class", "x"}, {"", "y"}}
	want := map[Format]string{
		JSON: `"metadata":{"@class":"java.util.Collections$EmptyMap"}`,
		XML:  `<metadata class="java.util.Collections$EmptyMap"/>`,
	}
	for _, f := range formats {
		if got := string(f.AppendInstance(nil, &in)); !strings.Contains(got, want[f]) {
			t.Errorf("no %s in %s", want[f], got)
		}
	}
}

func TestMetadataSurvivesFromJSONThroughXMLToJSON(t *testing.T) {
	sent := registration(`"metadata":{"build_id":"7","a$b":"x","2nd key":"y","user.name":"z","k:v":"<&>\"'","ctl":"a\u0000b"}`)
	first, err := DecodeInstance(sent)
	if err != nil {
		t.Fatal(err)
	}
	asXML := XML.AppendInstanceDocument(nil, &first)
	if !strings.Contains(string(asXML), "<build__id>7</build__id>") {
		t.Errorf("underscore is not doubled in %s", asXML)
	}
	second, err := DecodeInstance(asXML)
	if err != nil {
		t.Fatal(err)
	}
	want := []Pair{{"build_id", "7"}, {"a$b", "x"}, {"2nd key", "y"}, {"user.name", "z"}, {"k:v", `<&>"'`}, {"ctl", "ab"}}
	if diff := cmp.Diff(want, second.Metadata); diff != "" {
		t.Errorf("metadata differs (-want +got):\n%s", diff)
	}
}

func TestWritingIntoARoomyBufferDoesNotAllocate(t *testing.T) {
	in := hostileInstance()
	for _, f := range formats {
		buf := make([]byte, 0, 8<<10)
		allocs := testing.AllocsPerRun(100, func() { buf = f.AppendInstance(buf[:0], &in) })
		if allocs != 0 {
			t.Errorf("%s: %v allocations per instance", f, allocs)
		}
	}
}

func BenchmarkAppendInstanceJSON(b *testing.B) {
	benchmarkAppendInstance(b, JSON)
}

func BenchmarkAppendInstanceXML(b *testing.B) {
	benchmarkAppendInstance(b, XML)
}

func benchmarkAppendInstance(b *testing.B, f Format) {
	b.Helper()
	in := plainInstance()
	buf := f.AppendInstance(nil, &in)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = f.AppendInstance(buf[:0], &in)
	}
}

func BenchmarkDecodeInstanceJSON(b *testing.B) {
	in := plainInstance()
	body := JSON.AppendInstanceDocument(nil, &in)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeInstance(body); err != nil {
			b.Fatal(err)
		}
	}
}
