package threads

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
)

// byInterrupt stands for who made a thread ready where it was no thread.
const byInterrupt = "[interrupt]"

// NotOver stands for who made a thread ready where nobody has.
const NotOver = "[not over]"

// created is why a thread waits that has not run yet.
const created = "created"

// Blocked is the kind of samples that [Analysis.Samples] returns.
const Blocked = "blocked"

// Samples returns the times in which threads did not run, with the stacks of where they had
// stopped. It is to be called when all records have been. On Windows a wait that lasts to the end has
// no stack, since that is of the switch that ends it.
//
// The label state is waiting, or ready where a thread could have run; one that waited
// and was then ready makes two samples, of which the first one counts. Of waits,
// reason is that of the kernel, and by is who ended it, where the trace tells.
func (a *Analysis) Samples() []*stacks.Samples {
	a.bound.Flush()
	a.settle()
	dark := a.darkness()
	out := stacks.NewSamples(Blocked, stacks.ValueType{Name: "times", Unit: "count"}, stacks.ValueType{Name: "blocked", Unit: "nanoseconds"})
	states := [doings]stacks.LabelSet{ready: out.Label(0, "state", "ready"), waiting: out.Label(0, "state", "waiting"), unknown: out.Label(0, "state", "waiting or ready")}
	if a.blurred || a.scheduler {
		out.LabelCode()
	}
	var frames []uint64
	add := func(o *off) {
		pid := pidOf(o.thread.Thread)
		frames = a.bound.AppendFrames(frames[:0], o.stack)
		stack := out.InternAddresses(pid, frames)
		o.each(dark, func(does doing, from, times, ns int64) {
			labels := states[does]
			if does == waiting {
				labels = out.Label(labels, "reason", o.why)
				switch {
				case o.open:
					labels = out.Label(labels, "by", NotOver)
				case o.byOther:
					labels = out.Label(labels, "by", o.readier.name())
				}
			}
			out.AddStack(time.Unix(0, from), pid, o.thread.TID, stack, labels, times, ns)
		})
	}
	for i := range a.off {
		add(&a.off[i])
	}
	for _, x := range a.order {
		if o, is := a.last(x); is {
			add(&o)
		}
		if x.rests == nil {
			continue
		}
		pid := pidOf(x.Thread)
		for does, ns := range x.rests.ns {
			if x.rests.times[does] > 0 || ns > 0 {
				out.AddStack(time.Unix(0, x.rests.from), pid, x.TID, out.InternAddresses(pid, nil), states[does], x.rests.times[does], ns)
			}
		}
	}
	return []*stacks.Samples{out}
}

// name says who it is.
func (w *Waker) name() string {
	switch t := w.Thread(); {
	case w.interrupt:
		return byInterrupt
	case t == nil:
		return "[unknown]"
	case t.Process == nil || t.Process.Name == "":
		return fmt.Sprintf("thread %d", t.TID)
	default:
		return fmt.Sprintf("%s (%d)", t.Process.Name, t.TID)
	}
}

// Stacks says how many stacks were bound.
func (a *Analysis) Stacks() system.StackStats { return a.bound.Stats() }
