package attach

import (
	"errors"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

const (
	// damageWait is the longest time before it is tried again after a damaged stream.
	damageWait = time.Minute
	// steady is how long a session lasts that is no sign of trouble.
	steady = time.Minute
	// tolerated is the number of failures in a row before the status tells.
	tolerated = 3
)

// A try is when it is tried again to attach to a process.
type try struct {
	wait    time.Duration
	next    time.Time
	failed  int   // times in a row
	err     error // of the last time
	process string
}

// after returns when it is tried again after a try or a session that failed: later each
// time, and much later if its stream is damaged, as that of the next may be. Last is the
// one before it, or nil; lasted is how long the session went on.
func (s *Supervisor) after(last *try, err error, lasted time.Duration, now time.Time) *try {
	again := &try{wait: s.Retry, failed: 1, err: err}
	if last != nil && lasted < steady {
		longest := s.MaxRetry
		if isDamage(err) {
			longest = max(longest, damageWait)
		}
		again.wait, again.failed = min(2*last.wait, longest), last.failed+1
	}
	again.next = now.Add(again.wait)
	return again
}

// isDamage reports whether something of a stream cannot be read: it is not only broken
// off, as by the end of a process.
func isDamage(err error) bool {
	return errors.Is(err, etw.ErrIncomplete) && !nettrace.IsBrokenOff(err)
}
