//go:build race

package truth

// quickSeeds is smaller with the race detector: histories are slow with it, and it
// finds nothing in them that it does not find in a few.
const quickSeeds = 40
