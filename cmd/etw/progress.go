package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// A progress shows how far the reading of a trace has come: on a terminal, once
// it takes more than a second.
type progress struct {
	w     io.Writer // nil if it is not to be shown
	begun time.Time
	next  time.Time
	width int // of what is shown
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// newProgress shows progress on stderr if that is a terminal. If events are
// printed on the terminal, they are progress enough.
func newProgress(stderr, events io.Writer) *progress {
	p := &progress{begun: time.Now()}
	p.next = p.begun.Add(progressAfter)
	_, shown := terminal(stderr)
	_, crowded := terminal(events)
	if shown && !crowded && os.Getenv("TERM") != "dumb" {
		p.w = stderr
	}
	return p
}

// show shows that a number of events were read, which is a share of the trace
// unless that is negative.
func (p *progress) show(events int64, share float64) {
	if p.w == nil {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	line := progressLine(events, share, now.Sub(p.begun))
	fmt.Fprintf(p.w, "\r%-*s", p.width, line)
	p.width = len(line)
}

func progressLine(events int64, share float64, elapsed time.Duration) string {
	rate := float64(events) / elapsed.Seconds()
	line := fmt.Sprintf("%s events, %s/s", short(float64(events)), short(rate))
	if share <= 0 {
		return line
	}
	left := time.Duration(float64(elapsed) * (1 - share) / share).Round(time.Second)
	return fmt.Sprintf("%3.0f%%  %s, %s left", 100*share, line, left)
}

// short writes a number with three digits.
func short(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.3g%s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

// end removes what is shown.
func (p *progress) end() {
	if p.w != nil && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
