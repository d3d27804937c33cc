package drain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

const (
	// usualFetch is how often clients fetch the registry unless told otherwise. It
	// counts until an active client has been measured.
	usualFetch = 30 * time.Second
	// margin covers the fetch itself and the requests that are on their way.
	margin = 5 * time.Second
)

// Measure returns the longest interval between two fetches of the clients that are
// active now, ok false if none has been seen often enough to tell.
type Measure func() (slowest time.Duration, ok bool)

// length returns how many seconds a pod has to serve after its end has begun, and
// how that was found.
func length(d *v1alpha1.Drain, measure Measure) (seconds int64, how string) {
	limit := int64(*d.MaxSeconds)
	if d.Seconds.Type == intstr.Int {
		seconds, how = int64(d.Seconds.IntVal), "drain.seconds"
	} else {
		fetch, ok := usualFetch, false
		if measure != nil {
			if slowest, known := measure(); known {
				fetch, ok = slowest, true
			}
		}
		cache := time.Duration(*d.LoadBalancerCacheSeconds) * time.Second
		seconds = int64((fetch + cache + margin + time.Second - 1) / time.Second)
		how = fmt.Sprintf("fetch interval of the slowest client %s, load balancer cache %s, margin %s", fetch.Round(time.Second), cache, margin)
		if !ok {
			how += "; no client has been measured, so the usual interval counts"
		}
	}
	if seconds > limit {
		seconds, how = limit, how+"; limited by drain.maxSeconds"
	}
	return seconds, how
}
