package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The intervals of all lanes. They are short so that a run is, and the lease is
// long beside them so that a busy machine loses nobody.
const (
	renewSeconds = 2
	leaseSeconds = 60
	fetchSeconds = 1
)

// settings are what a lane is told, by the names of its environment.
type settings map[string]string

// newSettings numbers a lane: host, address and port follow from the number.
func newSettings(number int, c *Client, base, control string, watch []string) (settings, error) {
	metadata, err := json.Marshal(laneMetadata(c.Slug()))
	if err != nil {
		return nil, fmt.Errorf("encoding the metadata: %w", err)
	}
	delta := "off"
	if c.Delta {
		delta = "on"
	}
	host := fmt.Sprintf("node-%d.lanes.example", number)
	port := strconv.Itoa(lanePort + number)
	return settings{
		"KUREKA_URL":         base,
		"LANE_CLIENT":        c.Kind,
		"LANE_CONTROL":       control,
		"LANE_APP":           laneApp(c),
		"LANE_ID":            host + ":" + laneApp(c) + ":" + port,
		"LANE_HOST":          host,
		"LANE_IP":            fmt.Sprintf("192.0.2.%d", number),
		"LANE_PORT":          port,
		"LANE_SECURE_PORT":   strconv.Itoa(laneSecurePort + number),
		"LANE_VIP":           laneApp(c) + "-vip",
		"LANE_METADATA":      string(metadata),
		"LANE_RENEW_SECONDS": strconv.Itoa(renewSeconds),
		"LANE_LEASE_SECONDS": strconv.Itoa(leaseSeconds),
		"LANE_FETCH_SECONDS": strconv.Itoa(fetchSeconds),
		"LANE_DELTA":         delta,
		"LANE_WATCH":         strings.Join(watch, ","),
	}, nil
}

const (
	lanePort       = 7100
	laneSecurePort = 7600
)

func laneApp(c *Client) string { return "lane-" + c.Slug() }

// laneMetadata has keys and values that not every format carries as they are.
func laneMetadata(slug string) map[string]string {
	return map[string]string{
		"lane":            slug,
		"zone":            "zone-1",
		"build_number":    "0007",
		"management.port": "8081",
		"motto":           `a < b & "c" > 'd'`,
		"greeting":        "Grüße, 世界",
	}
}

// environ is the settings as a program's environment.
func (s settings) environ() []string {
	env := make([]string, 0, len(s))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		env = append(env, name+"="+s[name])
	}
	return env
}

// instance is what a client registers that follows its settings.
func (s settings) instance() (Instance, error) {
	in := Instance{
		App: strings.ToUpper(s["LANE_APP"]), ID: s["LANE_ID"], Status: "UP",
		HostName: s["LANE_HOST"], IPAddr: s["LANE_IP"], VIP: s["LANE_VIP"],
	}
	var err error
	if in.Port, err = strconv.Atoi(s["LANE_PORT"]); err != nil {
		return in, fmt.Errorf("reading the port: %w", err)
	}
	if in.SecurePort, err = strconv.Atoi(s["LANE_SECURE_PORT"]); err != nil {
		return in, fmt.Errorf("reading the secure port: %w", err)
	}
	if err := json.Unmarshal([]byte(s["LANE_METADATA"]), &in.Metadata); err != nil {
		return in, fmt.Errorf("reading the metadata: %w", err)
	}
	return in, nil
}
