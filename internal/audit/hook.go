package audit

import (
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// hook is what a preStop hook does, as far as its text shows.
type hook struct {
	there  bool
	native bool // the sleep of Kubernetes
	// sleeps says that it sleeps, seconds how long in all; 0 if a part is unknown.
	sleeps  bool
	seconds int64

	actuator bool // sets the status by the actuator of the service registry
	shutdown bool // ends the application by its actuator
	status   bool // sets the status in the registry
	cancels  bool // removes the registration
	kills    bool // sends a signal
	shell    bool
	pipes    bool // parts whose failure nobody sees
}

// maxScript is how much of a script is read, in bytes.
const maxScript = 64 << 10

var (
	sleepWord    = regexp.MustCompile(`\bsleep[\s(]+['"]?(\d+(?:\.\d+)?)?([smhd]?)`)
	actuatorCall = regexp.MustCompile(`/service-?registry\b`)
	shutdownCall = regexp.MustCompile(`(?:^|actuator|localhost|:\d+)/(?:actuator/)?shutdown(?:['"?\s]|$)`)
	httpCall     = regexp.MustCompile(`\b(?:curl|wget|https?)\b`)
	statusCall   = regexp.MustCompile(`/apps/\S*/status\b`)
	appsCall     = regexp.MustCompile(`/apps/\S+`)
	deleteVerb   = regexp.MustCompile(`\bDELETE\b`)
	killWord     = regexp.MustCompile(`(?:^|[\s;&|(])(?:/(?:usr/)?bin/)?(?:kill|pkill|killall)(?:\s|$)`)
	pipeSign     = regexp.MustCompile(`[^|]\|[^|]`)
)

// hookOf reads the preStop hook of a container.
func hookOf(c *corev1.Container) hook {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return hook{}
	}
	switch h := c.Lifecycle.PreStop; {
	case h.Sleep != nil:
		return hook{there: true, native: true, sleeps: true, seconds: max(h.Sleep.Seconds, 0)}
	case h.HTTPGet != nil:
		return hook{
			there: true, actuator: actuatorCall.MatchString(h.HTTPGet.Path), shutdown: shutdownCall.MatchString(h.HTTPGet.Path),
		}
	case h.Exec != nil:
		return scriptOf(h.Exec.Command)
	}
	return hook{there: true}
}

func scriptOf(command []string) hook {
	text := strings.Join(command, " ")
	text = text[:min(len(text), maxScript)]
	h := hook{there: true}
	h.sleeps, h.seconds = sleepOf(text)
	h.actuator = actuatorCall.MatchString(text)
	calls := httpCall.MatchString(text)
	h.status = calls && statusCall.MatchString(text)
	h.cancels = calls && !h.status && appsCall.MatchString(text) && deleteVerb.MatchString(text)
	h.shutdown = shutdownCall.MatchString(text)
	h.kills = killWord.MatchString(text)
	h.shell = len(command) > 0 && slices.Contains([]string{"sh", "bash", "ash", "dash", "busybox"}, path.Base(command[0]))
	h.pipes = h.shell && pipeSign.MatchString(text)
	return h
}

// sleepOf adds up the sleeps of a script.
func sleepOf(text string) (sleeps bool, seconds int64) {
	units := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
	total := 0.0
	for _, m := range sleepWord.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return true, 0
		}
		sleeps = true
		total += n * units[m[2]]
	}
	return sleeps, int64(math.Ceil(min(total, 1e9)))
}

// aboutRegistry says whether the hook talks about a registration.
func (h hook) aboutRegistry() bool { return h.actuator || h.status || h.cancels }

// mayDelay says whether SIGTERM may come later for this hook: it sleeps, or does
// something else than what is known to return at once.
func (h hook) mayDelay() bool {
	return h.there && (h.sleeps || !h.aboutRegistry() && !h.shutdown && !h.kills)
}

// waits says how long the hook is known to take, in seconds.
func (h hook) waits() int64 {
	if !h.sleeps {
		return 0
	}
	return h.seconds
}
