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
			if w != nil {
				if r.leaveOut(w); r.at == r.to {
					break
				}
			}
			b, e := r.batch, &r.events[r.at]
			r.at++
			r.deliver(&rec, r.known.kind(e), b, e)
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

// leaveOut moves past the events that come next and that w does not want, and counts
// them.
func (r *Reader) leaveOut(w *etw.Wants) {
	if r.known.wants != w || r.known.turn != w.Turn {
		r.known.wants, r.known.turn = w, w.Turn
		clear(r.known.verdicts)
	}
	events, verdicts, newest := r.events[:r.to], r.known.verdicts, r.newest
	var block stackBlock
	if stacks := &r.known.stacks; stacks.hit < len(stacks.blocks) {
		block = stacks.blocks[stacks.hit]
	}
	late, from := int64(0), r.at
	for i := from; i < len(events); i++ {
		e := &events[i]
		if uint(e.metadata) >= uint(len(verdicts)) || verdicts[e.metadata] != unwanted {
			if !r.known.leaves(w, e) {
				break
			}
			verdicts = r.known.verdicts
		}
		if r.known.v6 && !r.mayLeave(e) {
			break
		}
		if e.stack != 0 && e.stack-block.first >= block.n {
			if stacks := &r.known.stacks; stacks.has(e.stack) {
				block = stacks.blocks[stacks.hit]
			} else {
				r.stats.UnknownStacks++
			}
		}
		if e.time < newest {
			late++
		} else {
			newest = e.time
		}
		r.at++
	}
	n := r.at - from
	w.Skipped += uint64(n)
	r.stats.Records += int64(n)
	r.stats.OutOfOrder += late
	r.newest = newest
}

// mayLeave reports whether an event of version 6 may be left out, and then counts what
// it refers to. A list of labels may give it another version, so that it is of another
// kind.
func (r *Reader) mayLeave(e *event) bool {
	if r.batch.contexts[e.context&^sortPoint].labels != 0 {
		return false
	}
	if r.known.threads.get(e.thread) == nil {
		r.stats.UnknownThreads++
	}
	return true
}

// A verdict is what a Wants says of a kind of events.
type verdict uint8

const (
	notAsked verdict = iota
	wanted
	unwanted
)

// leaves reports whether an event need not be delivered, as far as its kind tells. Of
// kinds with more to do for an event, all are.
func (k *known) leaves(w *etw.Wants, e *event) bool {
	id := uint64(e.metadata)
	if id < uint64(len(k.verdicts)) && k.verdicts[id] == wanted {
		return false
	}
	of := k.kind(e)
	switch {
	case of.rare:
		return false
	case w.Kind(&of.record):
		k.judge(id, wanted)
		return false
	}
	k.judge(id, unwanted)
	return true
}

// judge remembers what was said of a kind.
func (k *known) judge(id uint64, v verdict) {
	if id >= uint64(len(k.kinds.dense)) {
		return // as in no usual stream
	}
	if n := len(k.kinds.dense) - len(k.verdicts); n > 0 {
		k.verdicts = append(k.verdicts, make([]verdict, n)...)
	}
	k.verdicts[id] = v
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

// Newest returns the latest time stamp read so far, and whether there is one.
func (r *Reader) Newest() (int64, bool) { return r.newest, r.stats.Records > 0 }

// Ended reports whether all that could be read was.
func (r *Reader) Ended() bool { return r.concluded }
