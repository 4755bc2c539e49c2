package nettrace

import (
	stdcontext "context"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Push calls do with each record that is left and that w wants: see [etw.Pusher]. Events
// that are left out are read, and counted, as all others are.
func (r *Reader) Push(ctx stdcontext.Context, w *etw.Wants, do func(*etw.Record) error) error {
	var rec etw.Record
	for n := pollEvery; ; {
		if n >= pollEvery {
			n = 0
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		n += r.to - r.at
		for r.at < r.to {
			b, e := r.batch, &r.events[r.at]
			r.at++
			k := r.known.kind(e)
			if w != nil && k.unwanted(w) && r.skip(b, e) {
				w.Skipped++
				continue
			}
			r.deliver(&rec, k, b, e)
			if err := do(&rec); err != nil {
				return err
			}
		}
		if r.closed {
			return errClosed
		}
		if err := r.more(); err == nil {
			continue
		}
		if err := r.conclude(); err != io.EOF {
			return err
		}
		return nil
	}
}

// pollEvery is the least number of events between two looks at a context.
const pollEvery = 256

// unwanted reports whether events of a kind need not be delivered. Of those with more to
// do for an event, all are.
func (k *kindOf) unwanted(w *etw.Wants) bool {
	if k.asked != w || k.turn != w.Turn {
		k.asked, k.turn, k.left = w, w.Turn, !w.Kind(&k.record)
	}
	return k.left && !k.rare
}

// skip counts an event that is left out, and reports whether it may be. A list of labels
// may give it another version, so that it is of another kind.
func (r *Reader) skip(b *batch, e *event) bool {
	if r.known.v6 {
		if b.contexts[e.context&^sortPoint].labels != 0 {
			return false
		}
		if r.known.threads.get(e.thread) == nil {
			r.stats.UnknownThreads++
		}
	}
	if e.stack != 0 && !r.known.stacks.has(e.stack) {
		r.stats.UnknownStacks++
	}
	r.count(e.time)
	return true
}

// count counts an event that was delivered, or left out because nobody wants it.
func (r *Reader) count(time int64) {
	r.stats.Records++
	if time < r.newest {
		r.stats.OutOfOrder++
	} else {
		r.newest = time
	}
}

// Newest returns the latest time stamp of what was read so far, and whether there is one.
func (r *Reader) Newest() (int64, bool) { return r.newest, r.stats.Records > 0 }

// Ended reports whether all that could be read was.
func (r *Reader) Ended() bool { return r.concluded }
