package app

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
)

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) write(_, args string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.WriteString(args + "\n")
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Whatever comes in at the port, the process lives, nothing panics, and a client that
// behaves is served before, beside and afterwards.
func TestNothingThatComesInHurtsTheProcess(t *testing.T) {
	o := options(Standalone)
	o.ReplicationPeers = []string{"127.0.0.1"}
	var log journal
	a, _ := startLogging(t, o, funcr.New(log.write, funcr.Options{Verbosity: 1}))
	if code, body := ask(t, a.Addr(), http.MethodPost, "/eureka/apps/DEMO", demoBody("good", "192.0.2.10")); code != http.StatusNoContent {
		t.Fatalf("registering = %d %s", code, body)
	}
	for name, input := range hostileInputs(t) {
		if _, err := exchange(t, a.Addr(), input); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if code, body := ask(t, a.Addr(), http.MethodPut, "/eureka/apps/DEMO/good", ""); code != http.StatusOK || body != "" {
			t.Fatalf("after %s a heartbeat = %d %s", name, code, body)
		}
	}
	if code, body := ask(t, a.Addr(), http.MethodGet, "/eureka/apps/DEMO/good", ""); code != http.StatusOK {
		t.Errorf("the good one is answered %d %s", code, body)
	}
	checkDocuments(t, a.Addr())
	if text := log.String(); strings.Contains(text, "panic") {
		t.Errorf("something panicked:\n%s", text)
	}
}

// checkDocuments reads what is left in the registry, which other clients must be able
// to read, too.
func checkDocuments(t *testing.T, addr net.Addr) {
	t.Helper()
	for _, path := range []string{"/eureka/apps", "/eureka/apps/delta", "/eureka/vips/demo"} {
		asJSON, err := exchange(t, addr, "GET "+path+" HTTP/1.0\r\nAccept: application/json\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, body, _ := strings.Cut(asJSON, "\r\n\r\n"); !json.Valid([]byte(body)) {
			t.Errorf("%s is no JSON: %s", path, asJSON)
		}
		asXML, err := exchange(t, addr, "GET "+path+" HTTP/1.0\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(asXML, "\r\n\r\n")
		if err := xml.Unmarshal([]byte(body), new(struct{})); err != nil {
			t.Errorf("%s is no XML: %v in %s", path, err, asXML)
		}
	}
}

// exchange sends bytes by a connection of their own, says that no more will come, and
// returns what is answered. That the other side hangs up is no error.
func exchange(t *testing.T, addr net.Addr, input string) (string, error) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr.String())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, input); err == nil {
		tcp, _ := conn.(*net.TCPConn)
		_ = tcp.CloseWrite() // it may have hung up
	}
	answer, err := io.ReadAll(conn)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // it is not wrapped
		return "", fmt.Errorf("neither answered nor hung up on: %w", err)
	}
	return string(answer), nil
}

func TestConnectionsThatAreIdleMakeRoom(t *testing.T) {
	o := options(Standalone)
	o.MaxConnections = 2
	a, _ := start(t, o)
	idle := make([]net.Conn, 2)
	for i := range idle {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", a.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		idle[i] = conn
	}
	if code, body := ask(t, a.Addr(), http.MethodGet, "/eureka/apps", ""); code != http.StatusOK {
		t.Errorf("the third is answered %d %s", code, body)
	}
	if _, err := io.ReadAll(idle[0]); err != nil {
		t.Errorf("the first was not closed: %v", err)
	}
}

// request is an HTTP request as bytes. Headers alternate name and value.
func request(method, target, body string, headers ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: registry\r\nConnection: close\r\n", method, target)
	for i := 0; i < len(headers); i += 2 {
		fmt.Fprintf(&text, "%s: %s\r\n", headers[i], headers[i+1])
	}
	fmt.Fprintf(&text, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return text.String()
}

func register(body string, headers ...string) string {
	return request(http.MethodPost, "/eureka/apps/DEMO", body, headers...)
}

// instance is a registration of "odd" with members of its own.
func instance(members string) string {
	return register(`{"instance":{"instanceId":"odd","hostName":"odd","app":"DEMO","ipAddr":"192.0.2.11","vipAddress":"demo",` +
		members + `,"dataCenterInfo":{"name":"MyOwn"}}}`)
}

func batch(items string) string {
	return request(http.MethodPost, "/eureka/peerreplication/batch/", `{"replicationList":[`+items+`]}`, "Content-Type", "application/json")
}

func hostileInputs(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, kind := range []map[string]string{noRequests(), oddRequests(), oddBodies(), oddInstances(t), oddBatches()} {
		maps.Copy(all, kind)
	}
	return all
}

// noRequests are bytes that are no HTTP request, or hardly one.
func noRequests() map[string]string {
	const h2 = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	return map[string]string{
		"nothing":                  "",
		"a blank line":             "\r\n",
		"zeros":                    strings.Repeat("\x00", 4096),
		"a TLS greeting":           "\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
		"an SSH greeting":          "SSH-2.0-OpenSSH_9.6\r\n",
		"HTTP/2 and no more":       h2,
		"HTTP/2 and noise":         h2 + strings.Repeat("\xff", 4096),
		"HTTP/2 settings, endless": h2 + strings.Repeat("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 20_000),
		"HTTP 0.9":                 "GET /eureka/apps\r\n",
		"HTTP 3":                   "GET /eureka/apps HTTP/3.0\r\n\r\n",
		"no host":                  "GET /eureka/apps HTTP/1.1\r\n\r\n",
		"two hosts":                "GET /eureka/apps HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"half a line":              "PUT /eureka/apps/DEMO/g",
		"a blank in the path":      "GET /eureka/ap ps HTTP/1.1\r\nHost: a\r\n\r\n",
		"a negative length":        "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
		"two lengths":              "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
		"length and chunks":        "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nDELETE /eureka/apps/DEMO/good HTTP/1.1\r\n",
		"a chunk of exabytes":      "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n{",
		"a chunk that is none":     "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{",
		"a long extension":         "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 1<<17) + "\r\n{",
		"a body cut short":         "POST /eureka/apps/DEMO HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{",
		"a huge header":            "GET /eureka/apps HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"many headers":             "GET /eureka/apps HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 20_000) + "\r\n",
		"a folded header":          "GET /eureka/apps HTTP/1.1\r\nHost: a\r\nAccept: text/html,\r\n application/json\r\n\r\n",
		"NUL in a header":          "GET /eureka/apps HTTP/1.1\r\nHost: a\r\nAccept: \x00json\r\n\r\n",
	}
}

// oddRequests are requests that no client sends.
func oddRequests() map[string]string {
	return map[string]string{
		"a long URL":             request(http.MethodPut, "/eureka/apps/DEMO/"+strings.Repeat("a", 60_000), ""),
		"an absolute URL":        request(http.MethodGet, "http://192.0.2.1/eureka/apps", ""),
		"no path":                request(http.MethodOptions, "*", ""),
		"a tunnel":               request(http.MethodConnect, "192.0.2.1:80", ""),
		"slashes only":           request(http.MethodGet, strings.Repeat("/", 20_000), ""),
		"dots":                   request(http.MethodGet, "/eureka/../../../../etc/passwd", ""),
		"escaped dots":           request(http.MethodGet, "/eureka/%2e%2e/%2e%2e/etc/passwd", ""),
		"escapes that are none":  request(http.MethodPut, "/eureka/apps/DEMO/%zz%", ""),
		"an escaped NUL":         request(http.MethodPut, "/eureka/apps/%00/%00?status=%00", ""),
		"a line end in an id":    request(http.MethodPut, "/eureka/apps/DEMO/a%0d%0aX-Evil:%20yes", ""),
		"bytes that are no text": request(http.MethodPut, "/eureka/apps/%ff%fe/%80", ""),
		"a socket":               request(http.MethodGet, "/eureka/apps", "", "Upgrade", "websocket", "Sec-WebSocket-Key", "x"),
		"an expectation":         request(http.MethodPost, "/eureka/apps/DEMO", "{}", "Expect", "200-maybe"),
		"ranges":                 request(http.MethodGet, "/eureka/apps", "", "Range", "bytes=0-0,"+strings.Repeat("1-2,", 5000)),
		"a method of its own":    request("BREW", "/eureka/apps/DEMO/good", ""),
		"a cancel by a web page": request(http.MethodDelete, "/eureka/apps/DEMO/good", "", "Origin", "http://demo.example"),
		"many parameters":        request(http.MethodPut, "/eureka/apps/DEMO/good/metadata?"+strings.Repeat("a&", 15_000), ""),
		"a parameter too large":  request(http.MethodPut, "/eureka/apps/DEMO/good?lastDirtyTimestamp="+strings.Repeat("9", 10_000), ""),
		"a status of its own":    request(http.MethodPut, "/eureka/apps/DEMO/good/status?value=%3Cscript%3E", ""),
		"questions by the page":  request(http.MethodGet, "/kureka/v1/instances/%ff/%00", ""),
		"an encoding of its own": request(http.MethodGet, "/eureka/apps", "", "Accept-Encoding", "gzip;q="+strings.Repeat("0", 10_000)+"1"),
		"an unknown charset":     register("{}", "Content-Type", "application/json;charset=x-"+strings.Repeat("y", 10_000)),
	}
}

// oddBodies are bodies that are no registrations.
func oddBodies() map[string]string {
	const inXML = "application/xml"
	xmlBody := func(text string) string { return register(text, "Content-Type", inXML) }
	return map[string]string{
		"null":               register(`null`),
		"a null instance":    register(`{"instance":null}`),
		"an array":           register(`[{"instance":{}}]`),
		"depth":              register(strings.Repeat(`{"instance":`, 10_000)),
		"arrays in arrays":   register(strings.Repeat(`[`, 100_000)),
		"many members":       register(`{"instance":{` + strings.Repeat(`"a":1,`, 20_000) + `"b":1}}`),
		"two documents":      register(`{"instance":{}}{"instance":{}}`),
		"16 bit text":        register("\xff\xfe{\x00}\x00"),
		"half a character":   register("{\"instance\":{\"app\":\"\xc3\"}}"),
		"a mark and nothing": register("\xef\xbb\xbf"),
		"a document type": xmlBody(`<?xml version="1.0"?><!DOCTYPE i [<!ENTITY e SYSTEM "http://127.0.0.1:9/x">]>` +
			`<instance><instanceId>&e;</instanceId><app>DEMO</app></instance>`),
		"laughter": xmlBody(`<!DOCTYPE i [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">` +
			`<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><instance><app>&c;</app></instance>`),
		"elements in elements": xmlBody(strings.Repeat("<instance>", 10_000)),
		"many attributes":      xmlBody("<instance " + strings.Repeat(`a="b" `, 15_000) + "/>"),
		"an inclusion": xmlBody(`<instance xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="file:///etc/passwd"/>` +
			`<app>DEMO</app></instance>`),
		"a class": xmlBody(`<instance class="javax.naming.InitialContext"><app class="java.lang.Runtime">DEMO</app></instance>`),
	}
}

// oddInstances are registrations, some of which are taken.
func oddInstances(t *testing.T) map[string]string {
	t.Helper()
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := io.Copy(w, io.LimitReader(zeros{}, 32<<20))
	if closed := w.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return map[string]string{
		"a body that expands":     register(bomb.String(), "Content-Encoding", "gzip"),
		"stacked encodings":       register("{}", "Content-Encoding", "gzip, gzip"),
		"an unknown encoding":     register("{}", "Content-Encoding", "br"),
		"no gzip":                 register("{}", "Content-Encoding", "gzip"),
		"a negative port":         instance(`"port":{"$":-1,"@enabled":"true"}`),
		"an impossible port":      instance(`"port":{"$":70000,"@enabled":"true"}`),
		"a port as a word":        instance(`"port":{"$":"eighty"}`),
		"zeros for a lease":       instance(`"leaseInfo":{"durationInSecs":0,"renewalIntervalInSecs":-7}`),
		"a lease of ages":         instance(`"leaseInfo":{"durationInSecs":1e308,"renewalIntervalInSecs":9223372036854775807}`),
		"times of nowhere":        instance(`"lastDirtyTimestamp":-1e99,"lastUpdatedTimestamp":"99999999999999999999"`),
		"numbers that are none":   instance(`"countryId":"NaN","leaseInfo":{"durationInSecs":"-Infinity"}`),
		"many vips":               instance(`"secureVipAddress":"` + strings.Repeat(",v", 4000) + `"`),
		"script":                  instance(`"statusPageUrl":"javascript:void(1)","metadata":{"</script>":"<img src=x onerror=1>","a":"]]>"}`),
		"names that are no names": instance(`"metadata":{"":"x","2nd key":"y","a$b":"z","k:v":"\u0000\ud800\uffff","@class":"x","class":"java.util.Collections$EmptyMap"}`),
		"nested metadata":         instance(`"metadata":{"a":{"b":[1,{"c":null}]},"d":null,"e":1e400}`),
		"too much metadata":       instance(`"metadata":{"a":"` + strings.Repeat("x", 70_000) + `"}`),
		"Amazon without an id":    instance(`"metadata":[],"dataCenterInfo":{"name":"Amazon","metadata":{"instance-id":null}}`),
		"an id that is a URL":     strings.Replace(instance(`"status":"up"`), `"instanceId":"odd"`, `"instanceId":"a:/"`, 1),
		"an application of slashes": request(http.MethodPost, "/eureka/apps/%2F..%2F", `{"instance":{"hostName":"h","app":"/../","ipAddr":"i",`+
			`"dataCenterInfo":{"name":"MyOwn"}}}`),
	}
}

// zeros are endless.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// oddBatches come from a peer.
func oddBatches() map[string]string {
	return map[string]string{
		"a batch of nothing":      batch(""),
		"a batch of nonsense":     batch(`null,7,"x",[],{},{"action":"Register"},{"action":"Heartbeat","appName":{},"id":[]}`),
		"a batch of batches":      batch(strings.Repeat("[", 50_000)),
		"too many items":          batch(strings.Repeat(`{},`, 2000) + `{}`),
		"an instance that is odd": batch(`{"action":"Register","appName":"DEMO","id":"x","instanceInfo":{"instanceInfo":{"app":[]}}}`),
		"a status of a peer":      batch(`{"action":"StatusUpdate","appName":"DEMO","id":"good","status":"<script>"}`),
	}
}
