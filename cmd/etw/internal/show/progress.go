package show

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A Progress shows how far the reading of a trace has come: on a terminal, once
// it takes more than a second.
type Progress struct {
	W     io.Writer // nil if it is not to be shown
	begun time.Time
	next  time.Time
	Width int // of what is shown
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// NewProgress shows progress on stderr if that is a terminal. If events are
// printed on the terminal, they are progress enough.
func NewProgress(stderr, events io.Writer) *Progress {
	p := &Progress{begun: time.Now()}
	p.next = p.begun.Add(progressAfter)
	_, shown := cli.Terminal(stderr)
	_, crowded := cli.Terminal(events)
	if shown && !crowded && os.Getenv("TERM") != "dumb" {
		p.W = stderr
	}
	return p
}

// Show shows that a number of events were read, which is a share of the trace
// unless that is negative.
func (p *Progress) Show(events int64, share float64) {
	if p.W == nil {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	line := progressLine(events, share, now.Sub(p.begun))
	fmt.Fprintf(p.W, "\r%-*s", p.Width, line)
	p.Width = len(line)
}

func progressLine(events int64, share float64, elapsed time.Duration) string {
	rate := float64(events) / elapsed.Seconds()
	line := fmt.Sprintf("%s events, %s/s", Short(float64(events)), Short(rate))
	if share <= 0 {
		return line
	}
	left := time.Duration(float64(elapsed) * (1 - share) / share).Round(time.Second)
	return fmt.Sprintf("%3.0f%%  %s, %s left", 100*share, line, left)
}

// Short writes a number with three digits.
func Short(n float64) string {
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

// End removes the shown line.
func (p *Progress) End() {
	if p.W != nil && p.Width > 0 {
		fmt.Fprintf(p.W, "\r%s\r", strings.Repeat(" ", p.Width))
		p.Width = 0
	}
}
