package drain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

const (
	// usualFetch is how often clients fetch the registry unless told otherwise. It
	// counts for those that cannot be measured.
	usualFetch = 30 * time.Second
	// margin covers the fetch itself and the requests that are on their way.
	margin = 5 * time.Second
)

// Fetching returns the longest fetch interval of the active consumers of the registry
// that are known to be one process, how many of them there are, and how many others,
// behind each of which there may be many. The first answer may be zero if the second
// is.
type Fetching func() (slowest time.Duration, known, unknown int)

// length returns how many seconds a pod has to serve after its end has begun, and
// how that was found.
func length(d *v1alpha1.Drain, fetching Fetching) (seconds int64, how string) {
	limit := int64(*d.MaxSeconds)
	if d.Seconds.Type == intstr.Int {
		seconds, how = int64(d.Seconds.IntVal), "drain.seconds"
	} else {
		interval, source := fetchInterval(fetching())
		cache := time.Duration(*d.LoadBalancerCacheSeconds) * time.Second
		seconds = int64((interval + cache + margin) / time.Second)
		how = fmt.Sprintf("%s %s, load balancer cache %s, margin %s", source, interval, cache, margin)
	}
	if seconds > limit {
		seconds, how = limit, how+"; limited by drain.maxSeconds"
	}
	return seconds, how
}

// fetchInterval returns the longest interval in whole seconds, and where it is from.
// What nobody could measure counts as usual.
func fetchInterval(slowest time.Duration, known, unknown int) (interval time.Duration, source string) {
	interval = (slowest + time.Second - 1).Truncate(time.Second)
	switch {
	case known == 0:
		return usualFetch, "usual fetch interval"
	case unknown > 0 && interval < usualFetch:
		return usualFetch, fmt.Sprintf("%d of %d consumers cannot be measured: usual fetch interval", unknown, known+unknown)
	}
	return interval, fmt.Sprintf("slowest fetch interval of %d consumers", known)
}
