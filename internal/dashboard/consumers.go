package dashboard

import (
	"time"

	"github.com/kureka/kureka/internal/consumers"
)

// maxConsumers and maxDepartures are how many one answer holds at most; those that
// are furthest behind, and the newest, come first.
const (
	maxConsumers  = 1000
	maxDepartures = 100
)

type fetching struct {
	Known                  int         `json:"known"`
	Unknown                int         `json:"unknown"`
	SlowestIntervalSeconds float64     `json:"slowestIntervalSeconds"`
	Consumers              []consumer  `json:"consumers"`
	Departures             []departure `json:"departures"`
}

type consumer struct {
	Address         string     `json:"address,omitempty"`
	UserAgent       string     `json:"userAgent,omitempty"`
	Pod             string     `json:"pod,omitempty"`
	FirstFetch      *time.Time `json:"firstFetch"`
	LastFetch       *time.Time `json:"lastFetch"`
	IntervalSeconds float64    `json:"intervalSeconds,omitempty"`
	Fetches         int64      `json:"fetches"`
	VersionsBehind  int64      `json:"versionsBehind"`
}

type departure struct {
	App         string     `json:"app"`
	ID          string     `json:"id"`
	Cause       string     `json:"cause"`
	At          *time.Time `json:"at"`
	KnownAt     *time.Time `json:"knownAt,omitempty"`
	TookSeconds float64    `json:"tookSeconds,omitempty"`
	GivenUp     bool       `json:"givenUp,omitempty"`
	Known       int        `json:"consumersKnown"`
	Unknown     int        `json:"consumersUnknown"`
}

func consumersOf(c Consumers) fetching {
	f := c.Fetching()
	active, departures := c.Report()
	out := fetching{Known: f.Known, Unknown: f.Unknown, SlowestIntervalSeconds: f.Slowest.Seconds(), Consumers: []consumer{}, Departures: []departure{}}
	for _, a := range active[:min(len(active), maxConsumers)] {
		out.Consumers = append(out.Consumers, consumer{
			Address: a.Address, UserAgent: a.Agent, Pod: a.Pod, FirstFetch: moment(a.First), LastFetch: moment(a.Last),
			IntervalSeconds: a.Interval.Seconds(), Fetches: a.Fetches, VersionsBehind: a.Behind,
		})
	}
	for _, d := range departures[:min(len(departures), maxDepartures)] {
		out.Departures = append(out.Departures, departureOf(d))
	}
	return out
}

func departureOf(d consumers.Departure) departure {
	out := departure{
		App: d.App, ID: d.ID, Cause: string(d.Cause), At: moment(d.At), KnownAt: moment(d.Over), GivenUp: d.Late,
		Known: d.Known, Unknown: d.Unknown,
	}
	if !d.Over.IsZero() {
		out.TookSeconds = d.Over.Sub(d.At).Seconds()
	}
	return out
}
