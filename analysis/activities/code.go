package activities

import (
	"encoding/binary"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Call stacks tell which code waits and awaits, and these have names only when all is read.
// So parts have the numbers of stacks, of which each is kept once.

// maxCodes bounds how many different stacks are kept.
const maxCodes = 1 << 16

// KeepCode has parts say which code they are of. Without it no stack is kept, and threads
// that sleep run, as far as is known.
func (a *Analysis) KeepCode() {
	if a.stacks == nil {
		a.stacks = stacks.NewSamples("code", stacks.ValueType{Name: "stacks", Unit: "count"}, stacks.ValueType{Name: "code", Unit: "number"})
		a.stacks.SetOutside(a.stacks.Label(0, "state", "external"))
		a.kept = make(map[stacks.ID]bool)
	}
}

// ShareCode has a keep the call stacks that another analysis of the same records kept, under
// the same numbers.
func (a *Analysis) ShareCode(all *Analysis) { a.stacks, a.kept = all.stacks, all.kept }

// Stacks returns the call stacks that parts have, one sample for each, whose last value is
// its number. It returns nil if they were not to be kept.
func (a *Analysis) Stacks() *stacks.Samples { return a.stacks }

// code returns the number of the stack of a record. The thread may be outside managed code.
func (a *Analysis) code(r *etw.Record, outside bool) stacks.ID {
	return a.codeOf(r, r.ProcessID, r.ThreadID, outside)
}

// codeOf is code where the stack is that of a thread that did not write the record.
func (a *Analysis) codeOf(r *etw.Record, pid, tid int64, outside bool) stacks.ID {
	if a.stacks == nil || r.Stack.Len() == 0 || len(a.kept) >= maxCodes {
		return 0
	}
	c := a.stacks.Intern(pid, r.Stack)
	if c != 0 && !a.kept[c] {
		a.kept[c] = true
		var state stacks.LabelSet
		if outside {
			state = a.stacks.Label(0, "state", "external")
		}
		a.stacks.AddStack(time.Unix(0, when.Of(r)), pid, tid, c, state, 1, int64(c))
	}
	return c
}

// A sample is an event of EventPipe's sampler.
type sample struct{ libraryEvents }

var sampleEvents = describe("Microsoft-DotNETCore-SampleProfiler", "3c530d44-97ae-513a-1e6d-783e8f8e03a9", name{0, 0, "ThreadSample"})

// EventDesc returns the description.
func (*sample) EventDesc() *etw.EventDesc { return sampleEvents[0] }

// EventDescs returns the same.
func (*sample) EventDescs() []*etw.EventDesc { return sampleEvents }

// outside reports whether the thread was outside managed code, where it may wait.
func (e *sample) outside() bool {
	return len(e.payload) >= 4 && binary.LittleEndian.Uint32(e.payload) == 1
}

// followSample takes a sample of a thread.
func (a *Analysis) followSample(rt *runtime, t *thread, r *etw.Record, e *sample) {
	rt.State.waited = true
	rt.State.looked = true
	if a.stacks == nil || t.cur == nil || t.told(rt) {
		return
	}
	s, code := &t.sampled, stacks.ID(0)
	if rt.State.sampled++; e.outside() {
		rt.State.outside++
		code = a.code(r, true)
	}
	from := t.since
	if s.last > t.since {
		from = s.last + (rt.Now-s.last)/2
	}
	if code != s.code || s.last <= t.since {
		t.endSample(from)
		s.code, s.from = code, from
	}
	s.last = rt.Now
}

// longUnseen is for how many times the time within which work goes on no sample meets a thread at work until
// nothing is known of it.
const longUnseen = 20

// unseen returns the time until now in which a thread worked for one activity and the sampler did not meet it, as
// on a machine that is too busy for that: nothing tells whether it worked or waited, unless a kernel does.
func (p *process) unseen(t *thread, now, soon int64) (list []state) {
	if p.looked && t.sampled.last <= t.since && now-t.since > longUnseen*soon && t.switched == 0 {
		list = append(list, state{thread: t.id, from: t.since, to: now, kind: Untold})
	}
	return list
}

// endSample ends the samples of a thread.
func (t *thread) endSample(now int64) {
	if s := &t.sampled; s.code != 0 {
		t.spent(state{from: max(s.from, t.since), to: now, kind: sampled, code: s.code})
	}
	t.sampled.code = 0
}
