// Package gate owns the wait of list reads after a start without state. It is pure
// and imports nothing of this module.
package gate
