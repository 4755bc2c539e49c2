package pick

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// callers give the call stacks of work for an activity, in place of the frames of the thread
// pool, those that a synchronous program would have: of the methods that await it, or of the code
// that scheduled its task. An async method is one frame, and not also the method that starts it.
type callers struct {
	stacks *stacks.Samples
	table  *symbols.Table
	of     map[filter.Worker][]calledBy   // by time
	runs   map[filter.Worker][]asyncs.Run // by their ends
	known  map[uint64]code                // by address
	buffer []byte
}

// A calledBy is the code that waits for a thread from a time on.
type calledBy struct {
	from   time.Duration
	list   []activities.Caller
	frames []uint64 // the innermost first, once they were asked for
	found  bool
}

// maxFrames bounds how many frames callers add to a stack.
const maxFrames = 512

func (c *callers) add(pid, thread int64, at time.Duration, list []activities.Caller) {
	w := filter.Worker{Process: pid, Thread: thread}
	c.of[w] = append(c.of[w], calledBy{from: at, list: list})
}

// addRun adds the methods that await the one that a thread runs, as the runtime itself says.
func (c *callers) addRun(pid int64, r asyncs.Run) {
	w := filter.Worker{Process: pid, Thread: r.Thread}
	c.runs[w] = append(c.runs[w], r)
}

// run returns the innermost run that a thread was in at a time, or nil.
func (c *callers) run(w filter.Worker, at time.Duration) *asyncs.Run {
	list := c.runs[w]
	for i := sort.Search(len(list), func(i int) bool { return list[i].To > at }); i < len(list); i++ {
		if x := &list[i]; x.From <= at {
			return x
		} else if x.Depth == 0 {
			break
		}
	}
	return nil
}

// awaiting returns the places of a run that await the method of a thread's stack, which is the
// outermost one of it, at a time.
func (c *callers) awaiting(r *etw.Record, x *asyncs.Run, at time.Duration, method code) (frames []uint64) {
	over := sort.Search(len(x.Over), func(i int) bool { return x.Over[i] > at })
	live := x.Frames[over:]
	first := slices.IndexFunc(live, func(address uint64) bool {
		it := c.code(r, address)
		return it.name != "" && it.name == method.name
	})
	for _, address := range live[min(max(first, 0)+1, len(live)):] {
		if !c.code(r, address).machinery && len(frames) < maxFrames {
			frames = append(frames, address)
		}
	}
	return frames
}

// extend gives a record that is asked for the callers of its stack.
func (c *callers) extend(r *etw.Record, at time.Duration) {
	if r.Stack.Len() == 0 || r.Stack.PtrSize != etw.Ptr64 && r.Stack.PtrSize != etw.Ptr32 {
		return
	}
	w := filter.Worker{Process: r.ProcessID, Thread: r.ThreadID}
	run, list := c.run(w, at), c.of[w]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > at })
	if i == 0 && run == nil {
		return
	}
	keep := c.own(r)
	size := int(r.Stack.PtrSize)
	c.buffer = c.buffer[:0]
	var inner code
	for i := range keep {
		x := c.code(r, r.Stack.At(i))
		if i == 0 || !x.starts && !x.same(inner) {
			c.buffer = append(c.buffer, r.Stack.Addresses[i*size:][:size]...)
			inner = x
		}
	}
	var above []uint64
	if run != nil {
		above = c.awaiting(r, run, at, c.code(r, r.Stack.At(keep-1)))
	} else {
		x := &list[i-1]
		if !x.found {
			x.frames, x.found = c.frames(r, x.list), true
		}
		above = x.frames
	}
	for _, address := range above {
		if size == 4 {
			c.buffer = binary.LittleEndian.AppendUint32(c.buffer, uint32(address))
		} else {
			c.buffer = binary.LittleEndian.AppendUint64(c.buffer, address)
		}
	}
	r.Stack.Addresses = c.buffer
}

// own returns how many of the innermost frames of a stack are work that others wait for.
func (c *callers) own(r *etw.Record) int {
	n := r.Stack.Len()
	keep := n
	for i := range n { // what lies outside of it completed what was awaited
		if c.code(r, r.Stack.At(i)).resumes {
			keep = i
			break
		}
	}
	for keep > 0 && c.code(r, r.Stack.At(keep-1)).machinery {
		keep--
	}
	if keep == 0 {
		return n // of the pool alone
	}
	return keep
}

// frames returns the frames of callers. An async method and its state machine are one.
func (c *callers) frames(r *etw.Record, list []activities.Caller) (frames []uint64) {
	var inner code
	for _, caller := range list {
		for _, address := range c.stacks.Stack(caller.Code) {
			x := c.code(r, address)
			if x.resumes || len(frames) >= maxFrames {
				break
			}
			if x.machinery || x.same(inner) {
				continue
			}
			frames, inner = append(frames, address), x
			if caller.Awaits {
				break
			}
		}
	}
	return frames
}

// machinery are the begins of the names of methods that run tasks and events.
var machinery = []string{
	"System.Runtime.CompilerServices.", "System.Diagnostics.Tracing.", "System.Threading.Tasks.", "System.Threading.ExecutionContext.",
	"System.Threading.ThreadPool", "System.Threading.PortableThreadPool", "System.Threading.QueueUserWorkItemCallback", "System.Threading.TimerQueue",
	"System.Threading.Timer.", "System.Threading.Thread.Start", "System.Threading.Thread+Start", "System.Threading.ThreadHelper", "System.Threading.CancellationToken",
	"System.Threading._", "System.Threading.UnmanagedThreadPoolWorkItem", "System.Threading.AsyncLocal",
}

// A code is the description of an address.
type code struct {
	full      string // the name of the method
	name      string // as the program calls it
	machinery bool   // it runs tasks
	resumes   bool   // a method after an await
	starts    bool   // an async method
}

// same reports whether both are of one method: its state machine, and the method that makes it.
func (x code) same(inner code) bool {
	return x.name != "" && x.name == inner.name && x.full != inner.full
}

// code returns the description of an address.
func (c *callers) code(r *etw.Record, address uint64) code {
	x, ok := c.known[address]
	if ok {
		return x
	}
	loc := c.table.Lookup(r.ProcessID, address-1, r.Time())
	if loc.Kind == symbols.Unknown {
		return code{}
	}
	m := loc.Method()
	full := m.Full()
	if _, name, ok := strings.Cut(full, "!"); ok {
		full = name
	}
	for _, begin := range machinery {
		x.machinery = x.machinery || strings.HasPrefix(full, begin) && !strings.HasPrefix(full, "System.Threading.Tasks.Parallel")
	}
	x.resumes = strings.Contains(full, "AsyncStateMachineBox`1") && strings.Contains(full, ".MoveNext") || strings.Contains(full, ".DispatchContinuations(")
	x.starts = x.machinery && strings.Contains(full, ".Start(")
	x.full, x.name = full, m.Demangled().Qualified()
	c.known[address] = x
	return x
}
