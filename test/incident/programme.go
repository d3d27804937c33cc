package incident

import (
	"context"
	"time"

	"github.com/kureka/kureka/test/rig/stage"
)

// Scene is a scene that begins and ends by itself.
type Scene struct {
	Title string
	Play  func(context.Context, stage.Setting) (Outcome, error)
}

// Scenes are all scenes but ForceDelete, which is the incident itself, Haunting,
// which goes on beside them, and LeaseOnly. They may be played at the same time.
func Scenes() []Scene {
	return []Scene{
		scene("Two pods are deleted gracefully and stop listening at SIGTERM", GracefulDelete),
		scene("A node gets the notice of a spot reclaim", SpotNotice),
		scene("A container crashes", ContainerCrash),
		scene("A pod of another service gets a dead pod's address", AddressReuse),
		scene("A host-network pod dies beside another one", HostNetwork),
		scene("All pods are replaced under load", RollingReplacement),
		scene("The operator itself is killed", OperatorRestart),
	}
}

func scene[O Outcome](title string, play func(context.Context, stage.Setting) (O, error)) Scene {
	return Scene{Title: title, Play: func(ctx context.Context, set stage.Setting) (Outcome, error) { return play(ctx, set) }}
}

// fetchEvery is how often the gateways fetch; stock clients do every 30 s.
const fetchEvery = 5 * time.Second
