package dashboard

import (
	"time"

	"github.com/kureka/kureka/internal/registry"
)

// LastNPath is where a Eureka server has its page of who came and who left last. It
// is answered like lastn under Prefix.
const LastNPath = "/lastn"

type lastN struct {
	Registered []registered `json:"registered"`
	Ended      []ended      `json:"ended"`
}

type registered struct {
	At  *time.Time `json:"at"`
	App string     `json:"app"`
	ID  string     `json:"id"`
}

type ended struct {
	registered

	Reason string `json:"reason"`
}

func lastNOf(came, left []registry.Moment) lastN {
	out := lastN{Registered: make([]registered, 0, len(came)), Ended: make([]ended, 0, len(left))}
	for _, m := range came {
		out.Registered = append(out.Registered, registeredOf(m))
	}
	for _, m := range left {
		out.Ended = append(out.Ended, ended{registeredOf(m), m.Reason})
	}
	return out
}

func registeredOf(m registry.Moment) registered {
	return registered{At: moment(time.UnixMilli(m.AtMS)), App: m.Key.App, ID: m.Key.ID}
}
