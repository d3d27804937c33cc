// Package restart plays what a restart of the registry means to its clients: a
// real process with a snapshot file, on a real API server, is killed and started
// again, and clients see nothing of it.
package restart
