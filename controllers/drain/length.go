package drain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kureka/kureka/api/v1alpha1"
)

const (
	// usualFetch is how often clients fetch the registry unless told otherwise.
	usualFetch = 30 * time.Second
	// margin covers the fetch itself and the requests that are on their way.
	margin = 5 * time.Second
)

// length returns how many seconds a pod has to serve after its end has begun, and
// how that was found.
func length(d *v1alpha1.Drain) (seconds int64, how string) {
	limit := int64(*d.MaxSeconds)
	if d.Seconds.Type == intstr.Int {
		seconds, how = int64(d.Seconds.IntVal), "drain.seconds"
	} else {
		cache := time.Duration(*d.LoadBalancerCacheSeconds) * time.Second
		seconds = int64((usualFetch + cache + margin) / time.Second)
		how = fmt.Sprintf("usual fetch interval %s, load balancer cache %s, margin %s", usualFetch, cache, margin)
	}
	if seconds > limit {
		seconds, how = limit, how+"; limited by drain.maxSeconds"
	}
	return seconds, how
}
