package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// traffic counts what all clients did. Clients add to it at the same time.
type traffic struct {
	requests, failed, received atomic.Int64 // received are bytes as sent, packed
}

// sample is what was counted up to a moment.
type sample struct {
	at                         time.Time
	cpu                        time.Duration
	rssKiB, peakKiB            int64
	requests, failed, received int64
}

// ticksPerSecond is how the kernel counts a process's time.
const ticksPerSecond = 100

func measure(pid int, t *traffic) (sample, error) {
	s := sample{at: time.Now(), requests: t.requests.Load(), failed: t.failed.Load(), received: t.received.Load()}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, fmt.Errorf("reading the process's time: %w", err)
	}
	line := string(stat)
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const user, system = 14 - 3, 15 - 3 // counted after the name
	for _, field := range []int{user, system} {
		ticks, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return s, fmt.Errorf("reading the process's time: %w", err)
		}
		s.cpu += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return s, fmt.Errorf("reading the process's memory: %w", err)
	}
	for row := range strings.Lines(string(status)) {
		switch name, value, _ := strings.Cut(row, ":"); name {
		case "VmRSS":
			_, err = fmt.Sscan(value, &s.rssKiB)
		case "VmHWM":
			_, err = fmt.Sscan(value, &s.peakKiB)
		}
		if err != nil {
			return s, fmt.Errorf("reading the process's memory: %w", err)
		}
	}
	return s, nil
}

// since says what happened between two samples.
func (s sample) since(before sample) string {
	seconds := s.at.Sub(before.at).Seconds()
	return fmt.Sprintf("memory %d MiB, at most %d MiB; processor %.3f; %.0f requests a second, %d failed; %.1f kB/s sent to all clients",
		s.rssKiB/1024, s.peakKiB/1024, (s.cpu-before.cpu).Seconds()/seconds,
		float64(s.requests-before.requests)/seconds, s.failed-before.failed, float64(s.received-before.received)/1000/seconds)
}
