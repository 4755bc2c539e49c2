package chrometrace

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// codeBase is added to the number of a process to get that of the tracks of its code.
const codeBase = 1 << 31

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
		c := calls{t: t, p: p, pid: pid, tid: k.Thread}
		for i := range k.Samples {
			c.add(&k.Samples[i], k.Samples[i].Time-origin)
		}
		c.leave(0)
	}
}

// calls are those that are on in a thread.
type calls struct {
	t        *Trace
	p        *stacks.Profile
	pid, tid int64
	frames   []int // the outermost first
	spans    []int // of the trace
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
		c.frames, c.spans = append(c.frames, frame), append(c.spans, len(c.t.Spans))
		c.t.Spans = append(c.t.Spans, Span{Process: c.pid, Thread: c.tid, Name: c.p.Frames[frame].Name, Category: "code", From: from})
	}
	c.end, c.length = from+length, length
}

// leave ends all calls but the first.
func (c *calls) leave(but int) {
	for _, i := range c.spans[but:] {
		c.t.Spans[i].Length = c.end - c.t.Spans[i].From
	}
	c.frames, c.spans = c.frames[:but], c.spans[:but]
}
