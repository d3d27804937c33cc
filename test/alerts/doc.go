// Package alerts checks what the chart has for Prometheus and Grafana: what alerts and
// the dashboard ask for must be exposed, what to do about each alert must be written
// down, a real Prometheus must raise each of them, and none while all is well, and it
// must answer every query of the dashboard from a real registry. That needs its
// programs, which the flag -prometheus has taken from Debian's package.
package alerts
