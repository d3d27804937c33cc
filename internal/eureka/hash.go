package eureka

import "strconv"

// StatusCounts counts instances per status, in the alphabetical order of the
// names: DOWN, OUT_OF_SERVICE, STARTING, UNKNOWN, UP. The zero value is an
// empty registry.
type StatusCounts [len(statusNames)]int

// Add changes the count of a status by n, which may be negative. A status
// outside the closed set counts as UNKNOWN, the way it is written.
func (c *StatusCounts) Add(s Status, n int) {
	c[s.index()] += n
}

// Total returns the number of instances counted.
func (c StatusCounts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// Hash returns the reconcile hash: NAME_count_ for every status that occurs,
// in alphabetical order, and "" for an empty registry. Clients compute it over
// their own copy and fetch everything again when the two differ.
func (c StatusCounts) Hash() string {
	return string(c.AppendHash(nil))
}

// AppendHash appends the reconcile hash to dst.
func (c StatusCounts) AppendHash(dst []byte) []byte {
	for i, n := range c {
		if n <= 0 {
			continue
		}
		dst = append(dst, statusNames[i]...)
		dst = append(dst, '_')
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, '_')
	}
	return dst
}
