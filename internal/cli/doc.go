// Package cli is `kubectl kureka`: commands for people who want to know what a
// registry sees and why. It finds a Kureka in the cluster by its labels, forwards a
// port to it, reads its JSON API and prints tables and sentences.
//
// It knows the registry only by what it answers, and imports nothing of the server;
// a test compares its shapes with the description of the API.
//
// A command is a file with a constructor, and one line in commands.
package cli
