package server

import (
	"fmt"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"

	"github.com/kureka/kureka/internal/eureka"
)

// statusEntry is one line of the status document.
type statusEntry struct{ key, value string }

// status answers the reference server's status document, for monitors that ask
// whether the server is there. Nothing in it depends on the registry, and there
// are no replicas to name.
func (s *server) status(c *call) {
	up := c.now.Sub(s.started)
	used, total := memory()
	general := []statusEntry{
		{"num-of-cpus", strconv.Itoa(runtime.GOMAXPROCS(0))},
		{"total-avail-memory", megabytes(total)},
		{"current-memory-usage", fmt.Sprintf("%s (%d%%)", megabytes(used), 100*used/max(1, total))},
		{"server-uptime", fmt.Sprintf("%02d:%02d", int(up.Hours()), int(up.Minutes())%60)},
	}
	replicas := []statusEntry{{"registered-replicas", ""}, {"available-replicas", ""}, {"unavailable-replicas", ""}}
	f := c.format()
	if f == eureka.JSON {
		c.whole(f, identityEncoding, []byte(`{"generalStats":`+entriesJSON(general)+`,"applicationStats":`+entriesJSON(replicas)+`}`))
		return
	}
	const root = "com.netflix.eureka.util.StatusInfo"
	c.whole(f, identityEncoding, []byte("<"+root+"><generalStats>"+entriesXML(general)+"</generalStats><applicationStats>"+
		entriesXML(replicas)+"</applicationStats></"+root+">"))
}

// entriesJSON writes entries whose texts need no escaping.
func entriesJSON(entries []statusEntry) string {
	members := make([]string, 0, len(entries))
	for _, e := range entries {
		members = append(members, strconv.Quote(e.key)+":"+strconv.Quote(e.value))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func entriesXML(entries []statusEntry) string {
	var text strings.Builder
	for _, e := range entries {
		text.WriteString("<" + e.key + ">" + e.value + "</" + e.key + ">")
	}
	return text.String()
}

// memory returns the bytes in use and those taken from the system.
func memory() (used, total uint64) {
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}}
	runtimemetrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

func megabytes(n uint64) string { return strconv.FormatUint(n>>20, 10) + "mb" }
