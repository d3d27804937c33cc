package rolling

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// variant is a registry and what delays the end of a pod.
type variant struct {
	name  string
	title string // of its rows
	// eureka is the server of Spring Cloud Netflix in place of Kureka.
	eureka bool
	// drain is that of the namespace's policy, empty for none. CACHE stands for the
	// seconds of the load balancer's cache, AGE for how old any list can be, and 5.
	drain string
	// script is a preStop hook that every pod comes with.
	script string
	// lossless means that no call may fail.
	lossless bool
}

// variants are all ways in which the restarts are played.
func variants() []variant {
	return []variant{
		{name: "eureka-script", title: "Eureka server, preStop script", eureka: true, script: outOfService},
		{name: "plain", title: "Kureka, no drain"},
		{name: "sleep", title: "Kureka, drain `Sleep`", drain: "{mode: Sleep, loadBalancerCacheSeconds: CACHE}", lossless: true},
		{name: "seconds", title: "Kureka, drain `Sleep` with `seconds`", drain: "{mode: Sleep, seconds: AGE}", lossless: true},
		{name: "hold", title: "Kureka, drain `Hold`", drain: "{mode: Hold, loadBalancerCacheSeconds: CACHE}", lossless: true},
	}
}

// outOfService is the script that teams write by hand: it takes the instance out of
// service and waits a while.
const outOfService = `curl -s -X POST -H 'Content-Type: application/json' -d '{"status":"OUT_OF_SERVICE"}' ` +
	`"http://$POD_IP:8080/actuator/serviceregistry"; sleep 15`

// lifecycle is the hook that every pod of the application comes with.
func (v variant) lifecycle() *corev1.Lifecycle {
	if v.script == "" {
		return nil
	}
	return &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", v.script}}}}
}

// policy is the spec of the namespace's policy; empty means that there is none.
func (v variant) policy(t timing) string {
	if v.drain == "" {
		return ""
	}
	const margin = 5 * time.Second // what Kureka itself adds
	values := strings.NewReplacer("CACHE", strconv.Itoa(wholeSeconds(t.cache)), "AGE", strconv.Itoa(wholeSeconds(t.fetch+t.cache+margin)))
	return "{drain: " + values.Replace(v.drain) + "}"
}

// timing is how old what everybody knows may be.
type timing struct {
	name               string
	fetch, cache       time.Duration // of clients and of the gateway's load balancer
	renew, lease       time.Duration
	response, eviction time.Duration // of the Eureka server
	threshold          string        // the threshold of its self-preservation
}

// timings are tuned and stock.
func timings() []timing { return []timing{tuned(), stock()} }

// tuned are timings that a team arrives at.
func tuned() timing {
	return timing{
		name: "tuned", fetch: 5 * time.Second, cache: 5 * time.Second, renew: 10 * time.Second, lease: 30 * time.Second,
		response: 5 * time.Second, eviction: 5 * time.Second, threshold: "0.49",
	}
}

// stock are those that clients, load balancers and the Eureka server come with.
func stock() timing {
	return timing{
		name: "default", fetch: 30 * time.Second, cache: 35 * time.Second, renew: 30 * time.Second, lease: 90 * time.Second,
		response: 30 * time.Second, eviction: time.Minute, threshold: "0.85",
	}
}

func (t timing) String() string {
	return fmt.Sprintf("%s: %s fetch, %s cache", t.name, t.fetch, t.cache)
}

func wholeSeconds(d time.Duration) int { return int(d / time.Second) }
