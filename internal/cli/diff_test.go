package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

const listThere = `{"applications":{"application":{"name":"ORDERS","instance":[
  {"instanceId":"o-1","app":"ORDERS","hostName":"o-1","ipAddr":"192.0.2.1","status":"OUT_OF_SERVICE","port":{"$":"8081","@enabled":true},"securePort":{"$":7002,"@enabled":"false"},"metadata":{"zone":"b","n":"1000000"}},
  {"instanceId":"o-3","app":"ORDERS","hostName":"o-3","ipAddr":"192.0.2.3","status":"UP","metadata":{"@class":"java.util.Collections$EmptyMap"}}]}}}`

const listSame = `{"applications":{"application":[
 {"name":"ORDERS","instance":[
  {"instanceId":"o-1","hostName":"o-1","ipAddr":"192.0.2.1","status":"UP","port":{"$":8080,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},"metadata":{"zone":"a","n":1000000}},
  {"instanceId":"o-2","hostName":"o-2","ipAddr":"192.0.2.2","status":"UP","port":{"$":8080,"@enabled":"true"},"metadata":{}}]},
 {"name":"WEB","instance":{"instanceId":"w","hostName":"w","ipAddr":"192.0.2.9","status":"UP"}}]}}`

func TestDiff_tellsWhatDiffersAndEndsWithOne(t *testing.T) {
	t.Parallel()
	list := instances{Matched: 3, Instances: []instance{
		{App: "ORDERS", ID: "o-1", HostName: "o-1", IPAddr: "192.0.2.1", Status: "UP", Port: 8080, Metadata: map[string]string{"zone": "a", "n": "1000000"}},
		{App: "ORDERS", ID: "o-2", HostName: "o-2", IPAddr: "192.0.2.2", Status: "UP", Port: 8080},
		{App: "WEB", ID: "w", HostName: "w", IPAddr: "192.0.2.9", Status: "UP"},
	}}
	here := registry(t, map[string]any{
		"/kureka/v1/instances?limit=10000":             list,
		"/kureka/v1/instances?app=BILLING&limit=10000": instances{},
	})
	there := registry(t, map[string]any{"/eureka/apps": json.RawMessage(listThere)})
	got := run(t, here, "diff", there+"/eureka/")
	want := `INSTANCE     WHAT            HERE   THERE
ORDERS/o-1   status          UP     OUT_OF_SERVICE
ORDERS/o-1   port            8080   8081
ORDERS/o-1   metadata zone   a      b
ORDERS/o-2   only here       UP     -
ORDERS/o-3   only there      -      UP
WEB/w        only here       UP     -

6 differences; 3 instances here, 2 there.
`
	if got.out != want || got.err != "" || got.code != exitFound {
		t.Errorf("it says (%d)\n%s%s\nwant\n%s", got.code, got.out, got.err, want)
	}
	if got = run(t, here, "diff", there+"/eureka", "--app", "billing"); got.code != exitOK {
		t.Errorf("of another application it says (%d)\n%s", got.code, got.out)
	}
	same := registry(t, map[string]any{"/apps": json.RawMessage(listSame)})
	if got = run(t, here, "diff", same); got.code != exitOK || got.out != "Both list the same 3 instances.\n" {
		t.Errorf("of the same it says (%d)\n%s%s", got.code, got.out, got.err)
	}
	many := registry(t, map[string]any{"/kureka/v1/instances?limit=10000": instances{Matched: 10_001}})
	if got = run(t, many, "diff", same); got.code != exitError || !strings.Contains(got.err, "--app") {
		t.Errorf("of a part it says (%d)\n%s%s", got.code, got.out, got.err)
	}
	if got = run(t, here, "diff", "eureka:8761"); got.code != exitError || !strings.Contains(got.err, "is no URL") {
		t.Errorf("of no URL it says (%d)\n%s%s", got.code, got.out, got.err)
	}
}
