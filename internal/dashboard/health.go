package dashboard

import (
	"fmt"
	"strings"
	"time"

	"github.com/kureka/kureka/internal/cluster"
	"github.com/kureka/kureka/internal/registry"
	"github.com/kureka/kureka/internal/version"
)

// The levels of an alert, the worst first.
const (
	levelBad  = "bad"
	levelWarn = "warn"
	levelInfo = "info"
	levelOK   = "ok"
)

// alert is something that people should know whatever page they look at.
type alert struct{ Level, Title, Text string }

// frame is what every page shows around its content.
type frame struct {
	Name, Title string
	Now         time.Time
	Version     string
	StreamPath  string
	Alerts      []alert
	Body        any
}

func (p *pages) frame(made page, now time.Time) frame {
	return frame{
		Name: made.name, Title: made.title, Now: now, Version: version.String(), StreamPath: StreamPath, Alerts: p.alerts(now), Body: made.body,
	}
}

// alerts are the warnings that a Eureka server's page gives, per namespace, and those
// about the view of the cluster.
func (p *pages) alerts(now time.Time) []alert {
	out := preservation(p.Registry.Partitions())
	if p.Watches != nil {
		out = append(out, sight(now, p.View.View(), p.Watches())...)
	}
	if p.ListsFrom != nil && now.Before(p.ListsFrom()) {
		out = append(out, alert{
			levelInfo, "Just started",
			"Lists are refused until " + stamp(p.ListsFrom()) + ", so that clients keep what they have until everybody has come back.",
		})
	}
	return out
}

// preservation says where self-preservation holds leases, or cannot.
func preservation(stats []registry.PartitionStats) []alert {
	var engaged, unguarded, off []string
	held := 0
	for _, s := range stats {
		switch below := belowThreshold(s); {
		case s.Engaged:
			engaged, held = append(engaged, shortfall(s)), held+s.Held
		case s.Disabled && below:
			unguarded = append(unguarded, shortfall(s))
		case s.Disabled:
			off = append(off, place(s.Name))
		}
	}
	var out []alert
	if len(engaged) > 0 {
		out = append(out, alert{
			levelBad, "Emergency: instances may be shown UP that are not",
			"Renewals are below the threshold, so leases are not expired, to be safe: " + few(engaged) +
				fmt.Sprintf(". Held past their end: %s. What the cluster proves dead is removed all the same.", number(held)),
		})
	}
	if len(unguarded) > 0 {
		out = append(out, alert{
			levelBad, "Renewals are below the threshold and self-preservation is turned off",
			"Leases expire even if the network is to blame: " + few(unguarded) + ".",
		})
	}
	if len(off) > 0 {
		out = append(out, alert{
			levelWarn, "Self-preservation is turned off",
			"It may not protect instances if the network fails: " + few(off) + ".",
		})
	}
	return out
}

func belowThreshold(s registry.PartitionStats) bool {
	return s.Received < s.Threshold()
}

func shortfall(s registry.PartitionStats) string {
	return fmt.Sprintf("%s (%s of %s renewals a minute, threshold %d %%)", place(s.Name), rate(s.Received), rate(s.Expected), s.ThresholdPercent)
}

// sight says what Kureka cannot see.
func sight(now time.Time, v cluster.View, watches []Watch) []alert {
	var out []alert
	if !v.Fresh {
		out = append(out, alert{
			levelWarn, "The cluster is not seen",
			"The API server was last heard " + ago(now, v.LastCanary) + ". Leases decide meanwhile, and nothing is inferred from silence.",
		})
	}
	var broken []string
	for _, w := range watches {
		if w.Problem != "" || !w.Synced {
			broken = append(broken, w.Resource)
		}
	}
	if len(broken) > 0 {
		out = append(out, alert{levelWarn, "Not everything can be watched", "No evidence comes from: " + few(broken) + "."})
	}
	return out
}

// few joins the first of many.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + number(len(names)-most) + " more"
}

// Worst is the level of a page's alerts.
func (f frame) Worst() string {
	for _, level := range []string{levelBad, levelWarn, levelInfo} {
		for _, a := range f.Alerts {
			if a.Level == level {
				return level
			}
		}
	}
	return levelOK
}
