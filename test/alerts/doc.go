// Package alerts plays the alerts that the chart installs: what they ask for must be
// exposed, what to do about each must be written down, and a real Prometheus must
// raise each of them, and none while all is well. That needs its tools, which the
// flag -prometheus has taken from Debian's package.
package alerts
