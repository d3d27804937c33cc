// Package manager runs the reconcilers of custom resources, whatever goes wrong: it
// waits until the kinds can be read, says once what is the matter, and starts again.
// It knows nothing of what the resources mean.
//
// It may import client-go and controller-runtime, and nothing else of this module
// but the API types.
package manager
