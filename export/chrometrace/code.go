package chrometrace

import (
	"cmp"
	"iter"
	"slices"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// codeBase is added to the number of a process to get that of the tracks of its code.
const codeBase = 1 << 31

// Calls are those of the code of a thread, on a track of its own. A long trace has tens of millions:
// their spans are made when they are written.
type Calls struct {
	Process, Thread int64
	profile         *stacks.Profile
	samples         []stacks.Timed
	origin          int64
}

// spans returns the calls as spans, callers first.
func (x *Calls) spans(to []Span) []Span {
	c := calls{list: to, p: x.profile, pid: x.Process, tid: x.Thread}
	for i := range x.samples {
		c.add(&x.samples[i], x.samples[i].Time-x.origin)
	}
	c.leave(0)
	return c.list
}

// byTrack returns the spans of each track of code. They are to be used at once.
func (t *Trace) byTrack() iter.Seq[[]Span] {
	return func(yield func([]Span) bool) {
		var list []Span
		for i := range t.Calls {
			x := &t.Calls[i]
			if i > 0 && (x.Process != t.Calls[i-1].Process || x.Thread != t.Calls[i-1].Thread) {
				if !yield(list) {
					return
				}
				list = list[:0]
			}
			list = x.spans(list)
		}
		yield(list)
	}
}

// AddProfile adds the code that threads were in, as tracks of their own: calls are spans
// within those of their callers. The last value of samples must be time, for which each of
// them stands. origin is when the session began, in nanoseconds since 1970; process and
// thread return names.
func (t *Trace) AddProfile(p *stacks.Profile, origin int64, process, thread func(id int64) string) {
	if len(p.Types) == 0 || p.Types[len(p.Types)-1].Unit != "nanoseconds" {
		return
	}
	threads, known := p.Threads(), make(map[int64]bool)
	order.Sort(threads, func(a, b stacks.Thread) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Thread, b.Thread))
	})
	for _, k := range threads {
		pid := codeBase + max(k.Process, 0)
		if !known[pid] {
			known[pid] = true
			t.Processes = append(t.Processes, Process{pid, "code of " + process(k.Process)})
		}
		t.Threads = append(t.Threads, Thread{pid, k.Thread, thread(k.Thread)})
		if slices.ContainsFunc(k.Samples, func(s stacks.Timed) bool { return s.Stack != 0 }) {
			t.Calls = append(t.Calls, Calls{pid, k.Thread, p, k.Samples, origin})
		}
	}
	order.Stable(t.Calls, func(a, b Calls) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Thread, b.Thread))
	})
}

// calls are those that are on in a thread.
type calls struct {
	list     []Span
	p        *stacks.Profile
	pid, tid int64
	frames   []int // the outermost first
	spans    []int // of the list
	end      int64 // of the last sample
	length   int64 // of the last sample
	stack    []int
}

// add goes on with a sample. A call goes on, too, over the time from one sample to the next,
// which is not always the same; after a longer time it is another one.
func (c *calls) add(s *stacks.Timed, from int64) {
	length := max(s.Value, 0)
	if from > c.end+c.length {
		c.leave(0)
	}
	from = max(from, c.end)
	c.end = from // calls that do not go on end here
	c.stack = slices.AppendSeq(c.stack[:0], c.p.Stack(s.Stack))
	slices.Reverse(c.stack)
	same := 0
	for same < len(c.frames) && same < len(c.stack) && c.frames[same] == c.stack[same] {
		same++
	}
	c.leave(same)
	for _, frame := range c.stack[same:] {
		c.frames, c.spans = append(c.frames, frame), append(c.spans, len(c.list))
		c.list = append(c.list, Span{Process: c.pid, Thread: c.tid, Name: c.p.Frames[frame].Name, Category: "code", From: from})
	}
	c.end, c.length = from+length, length
}

// leave ends all calls but the first.
func (c *calls) leave(but int) {
	for _, i := range c.spans[but:] {
		c.list[i].Length = c.end - c.list[i].From
	}
	c.frames, c.spans = c.frames[:but], c.spans[:but]
}
