package dotnetreceiver

import (
	"errors"
	"fmt"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A try is when it is tried again to attach to a process.
type try struct {
	wait  time.Duration
	next  time.Time
	early int    // sessions before it, one after another, that ended early
	said  string // of those
}

const (
	// damageWait is the longest time before it is tried again after a damaged stream.
	damageWait = time.Minute
	// steady is how long a session lasts that is no sign of trouble.
	steady = time.Minute
	// tolerated is the number of sessions that end early before the status tells.
	tolerated = 3
)

// after returns when it is tried again after a try that failed. Last is the one before
// it, or nil.
func (c *Config) after(last *try, now time.Time) *try {
	again := &try{wait: c.Reattach.InitialInterval}
	if last != nil {
		*again = *last
		again.wait = min(2*last.wait, c.Reattach.MaxInterval)
	}
	again.next = now.Add(again.wait)
	return again
}

// An earlyError is why a session has ended before it was stopped.
type earlyError struct{ error }

func (e *earlyError) Unwrap() error { return e.error }

// afterEarly returns when it is tried again after a session that has ended early: later
// each time, and much later if its stream is damaged, as that of the next may be.
func (c *Config) afterEarly(last *try, process string, why error, lasted time.Duration, now time.Time) *try {
	again := &try{wait: c.Reattach.InitialInterval, early: 1}
	if last != nil && lasted < steady {
		longest := c.Reattach.MaxInterval
		if isDamage(why) {
			longest = max(longest, damageWait)
		}
		again.wait, again.early = min(2*last.wait, longest), last.early+1
	}
	again.next = now.Add(again.wait)
	again.said = fmt.Sprintf("%s: %d sessions in a row have ended early, the last one by %v", process, again.early, why)
	return again
}

// isDamage reports whether something of a stream cannot be read: it is not only broken
// off, as by the end of a process.
func isDamage(err error) bool {
	return errors.Is(err, etw.ErrIncomplete) && !nettrace.IsBrokenOff(err)
}
