//go:build !race

package truth

// quickSeeds is how many histories are played without being asked for more.
const quickSeeds = 360
