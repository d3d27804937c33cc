package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kureka/kureka/test/incident"
	"github.com/kureka/kureka/test/rig/stage"
)

// demo plays the scenes. Only one goroutine prints.
type demo struct {
	compare bool
	runs    int

	started time.Time
	failed  int
	table   []section
}

// played is a scene that plays on its own, with what it will leave.
type played struct {
	title    string
	timeline *stage.Timeline
	outcome  incident.Outcome
	err      error
	done     chan struct{}
}

// begin plays a scene in the background.
func begin(title string, play func(*stage.Timeline) (incident.Outcome, error)) *played {
	p := &played{title: title, timeline: stage.NewTimeline(), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.outcome, p.err = play(p.timeline)
	}()
	return p
}

func (d *demo) play(ctx context.Context) (err error) {
	d.started = time.Now()
	fmt.Println("starting etcd, kube-apiserver and kube-controller-manager")
	rig, err := stage.Start(ctx, os.Stdout, stage.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rig.Close()) }()
	if why := rig.Reduced(); why != "" {
		fmt.Println("note:", why)
	}
	fmt.Println("starting kureka")
	operator, err := rig.StartManager(ctx, stage.OperatorOptions{Name: "kureka", Gate: "5s"})
	if err != nil {
		return err
	}
	if err := d.scenes(ctx, rig, operator); err != nil {
		return err
	}
	d.printTable()
	if d.failed > 0 {
		return fmt.Errorf("%d expectations were not met", d.failed)
	}
	return nil
}

// scenes plays the incident first, because it is measured, and then everything
// else at the same time, in the order of the programme as far as printing goes.
func (d *demo) scenes(ctx context.Context, rig *stage.Rig, operator *stage.Operator) error {
	set := func(t *stage.Timeline) stage.Setting {
		return stage.Setting{Rig: rig, Operator: operator, Timeline: t}
	}
	var leaseOnly incident.LeaseOnlyResult
	var comparison *played
	if d.compare {
		comparison = begin("The same with leases only and stock timers", func(t *stage.Timeline) (_ incident.Outcome, err error) {
			leaseOnly, err = incident.LeaseOnly(ctx, rig, t)
			return nil, err
		})
	}
	enough := make(chan struct{})
	haunting := begin("A force-deleted pod's process lives on and wants back, from the start until now", func(t *stage.Timeline) (incident.Outcome, error) {
		return incident.Haunting(ctx, set(t), enough)
	})
	var result incident.ForceDeleteResult
	deaths := begin("Four of twelve instances die at once", func(t *stage.Timeline) (_ incident.Outcome, err error) {
		result, err = incident.ForceDelete(ctx, set(t), d.runs)
		return measured{result}, err
	})
	d.show(deaths)
	scenes := incident.Scenes()
	rest := make([]*played, 0, len(scenes))
	for _, s := range scenes {
		rest = append(rest, begin(s.Title, func(t *stage.Timeline) (incident.Outcome, error) { return s.Play(ctx, set(t)) }))
	}
	for _, p := range rest {
		d.show(p)
	}
	close(enough)
	d.show(haunting)
	if comparison != nil {
		d.show(comparison)
		if comparison.err == nil && deaths.err == nil {
			d.printComparison(incident.Compare(result, leaseOnly))
		}
	}
	return ctx.Err()
}

// measured adds the expectations about time, which hold for a machine that does
// nothing else.
type measured struct{ incident.ForceDeleteResult }

// Expectations implements incident.Outcome.
func (m measured) Expectations() []incident.Expectation {
	return append(m.ForceDeleteResult.Expectations(), m.Within()...)
}

// show waits for a scene, prints its timeline and judges it.
func (d *demo) show(p *played) {
	d.heading(p.title)
	ticker := time.NewTicker(15 * time.Second)
	defer ticker.Stop()
	for waiting := true; waiting; {
		select {
		case <-p.done:
			waiting = false
		case <-ticker.C:
			fmt.Printf("  still playing, %d s since the start\n", int(time.Since(d.started).Seconds()))
		}
	}
	fmt.Println(p.timeline)
	switch {
	case p.err != nil:
		d.failed++
		fmt.Println("FAILED ", p.err)
	case p.outcome != nil:
		d.judge(p.title, p.outcome.Facts(), p.outcome.Expectations())
	}
}

// judge prints the expectations and keeps the facts for the table.
func (d *demo) judge(title string, facts []incident.Fact, expectations []incident.Expectation) {
	for _, e := range expectations {
		fmt.Println(e)
		if !e.Met() {
			d.failed++
		}
	}
	d.table = append(d.table, section{title, facts})
}
