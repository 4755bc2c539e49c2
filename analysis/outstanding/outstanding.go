// Package outstanding answers which code allocates and does not give back: virtual memory,
// memory of native heaps, memory of the kernel's pools, and handles of Windows, each with
// the call stack of whoever asked for it. Use it when a process, or the machine, grows.
//
// The kernel of Windows logs memory and handles (flag VIRT_ALLOC, groups POOL and OB_HANDLE), and
// heaps are logged of processes that they are switched on for. No recording with
// such events was at hand: the layouts are those of descriptions.
package outstanding

import (
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Kind is something that is allocated and given back.
type Kind struct {
	Name  string
	Needs []need.Need

	class   string
	take    func(a *Analysis, r *etw.Record, c *etw.Cursor)
	label   func(a *Analysis, out *stacks.Samples, h *held) stacks.LabelSet
	spread  bool // an address is a byte, so that a part can be given back
	unsized bool // they have no bytes
}

// The kinds.
var (
	// VirtualMemory is what processes have committed. Memory that is committed again counts for
	// whoever did that last.
	VirtualMemory = Kind{Name: "virtual-memory", class: virtualClass, take: (*Analysis).virtual, spread: true,
		Needs: needs("virtual memory", "wpr -start VirtualAllocation, or xperf -on PROC_THREAD+LOADER+VIRT_ALLOC -stackwalk VirtualAlloc", virtualClass, 98, 99)}
	// NativeHeap is memory of the heaps of processes, other than of .NET's.
	NativeHeap = Kind{Name: "native-heap", class: heapClass, take: (*Analysis).heap,
		Needs: needs("native heaps", "wpr -start Heap, or xperf -start HEAP -heap -PidNewProcess PROGRAM -stackwalk HeapAlloc+HeapRealloc", heapClass, 33, 36)}
	// Pool is memory of drivers and the kernel.
	Pool = Kind{Name: "pool", class: poolClass, take: (*Analysis).pool, label: (*Analysis).tagged,
		Needs: needs("pool memory", "wpr -start Pool, or xperf -on PROC_THREAD+LOADER+POOL -stackwalk PoolAlloc+PoolAllocSession", poolClass, 32, 35)}
	// Handles are those to objects of Windows, such as files and events.
	Handles = Kind{Name: "os-handles", class: objectClass, take: (*Analysis).handle, label: (*Analysis).typed, unsized: true,
		Needs: needs("handles of Windows", "wpr -start Handle, or xperf -on PROC_THREAD+LOADER+OB_HANDLE -stackwalk CreateHandle+DuplicateHandle", objectClass, 32, 34)}
)

const (
	virtualClass = "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c"
	heapClass    = "222962ab-6180-4b88-a825-346b75f2a24a"
	poolClass    = "0268a8b6-74fd-4302-9dd0-6e8f1795c0cf"
	objectClass  = "89497f50-effe-4440-8cf2-ce6b1cdcaca7"
)

func needs(what, recorder, class string, first, last uint16) []need.Need {
	return []need.Need{{What: what, Recorder: recorder, Kernel: [3]need.Events{{Provider: class, First: first, Last: last}}}}
}

// A Result counts what was allocated in a trace. Handles have no bytes.
type Result struct {
	Allocated, Freed, Outstanding Amount
	// Older is how often something was given back that nothing tells the allocation of: it was
	// made before the trace began, or its event is missing.
	Older int
	// Unfit are events without the fields of their kind.
	Unfit int
}

// An Amount is so many allocations, of so many bytes. Of virtual memory a part of an allocation can
// be given back: Freed counts those of which nothing is left.
type Amount struct {
	Count int
	Bytes uint64
}

func (m *Amount) add(bytes uint64) {
	m.Count++
	m.Bytes += bytes
}

// An Analysis follows one kind in the records that a [etw.Mux] dispatches.
type Analysis struct {
	Kind    *Kind
	machine *system.Machine
	bound   *system.Stacks[int32]      // of places
	spaces  map[int64]map[uint64]*span // by process, and within it by heap
	held    []held
	free    []int32
	types   map[uint16]string // of objects
	res     Result
}

// A held is something that was allocated. Its place is used again when it is given back, and its
// stack is there, which comes later than the event.
type held struct {
	bound  bool   // the stack is there
	left   uint64 // addresses of it that were not given back
	bytes  uint64 // of memory, how many these are
	at     int64
	pid    int64 // whose it is
	thread *system.Thread
	stack  system.CallStack
	tag    uint32 // of a pool, or the type of an object
	name   string
}

// New returns an analysis of a kind whose handlers are registered at mux.
func (k *Kind) New(mux *etw.Mux) *Analysis {
	a := &Analysis{Kind: k, machine: system.Of(mux), spaces: make(map[int64]map[uint64]*span), types: make(map[uint16]string)}
	a.bound = system.BindStacks(mux, func(i int32, s system.CallStack) {
		a.held[i].stack, a.held[i].bound = s, true
		a.reuse(i)
	})
	etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyProcessStop) error {
		for within := range a.spaces[int64(e.ProcessID)] {
			a.end(int64(e.ProcessID), within)
		}
		return nil
	})
	class := etw.MustParseGUID(k.class)
	mux.HandleRest(func(r *etw.Record) error {
		if r.Kind == etw.KindClassic && r.Provider == class {
			c := etw.NewCursor(r.Payload, 0, r.PointerSize)
			k.take(a, r, &c)
			if c.Failed() {
				a.res.Unfit++
			}
		}
		return nil
	})
	return a
}

// whose returns the process that logged a record.
func (a *Analysis) whose(r *etw.Record) int64 {
	if r.ProcessID >= 0 {
		return r.ProcessID
	}
	pid, _ := a.machine.Asker(r, r.ThreadID).IDs()
	return pid
}

// alloc takes that addresses of a process were allocated.
func (a *Analysis) alloc(r *etw.Record, pid int64, within, from, size uint64, h held) {
	if size == 0 {
		return
	}
	till := from + size
	if till < from {
		till = ^uint64(0)
	}
	a.res.Allocated.add(h.bytes)
	a.remove(pid, within, from, till)
	i := int32(len(a.held))
	if n := len(a.free); n > 0 {
		i = a.free[n-1]
		a.free = a.free[:n-1]
	} else {
		a.held = append(a.held, held{})
	}
	h.left, h.pid = till-from, pid
	h.at, h.thread = when.Of(r), a.machine.Asker(r, r.ThreadID)
	a.held[i] = h
	if a.spaces[pid] == nil {
		a.spaces[pid] = make(map[uint64]*span)
	}
	left, right := a.spaces[pid][within].part(from)
	a.spaces[pid][within] = merge(merge(left, newSpan(from, till, i)), right)
	a.bound.Await(r, r.ThreadID, i)
}

// remove takes that addresses of a process are given back, and reports whether any had been
// allocated.
func (a *Analysis) remove(pid int64, within, from, till uint64) bool {
	root := a.spaces[pid][within]
	if root == nil || from >= till {
		return false
	}
	left, rest := root.split(from)
	gone, right := rest.split(till)
	a.drop(gone)
	a.spaces[pid][within] = merge(left, right)
	return gone != nil
}

// end takes that all of a process or of a heap is given back.
func (a *Analysis) end(pid int64, within uint64) {
	a.drop(a.spaces[pid][within])
	delete(a.spaces[pid], within)
	if len(a.spaces[pid]) == 0 {
		delete(a.spaces, pid)
	}
}

// drop gives spans back.
func (a *Analysis) drop(s *span) {
	if s == nil {
		return
	}
	a.drop(s.left)
	a.drop(s.right)
	h := &a.held[s.held]
	bytes := h.bytes
	if a.Kind.spread {
		bytes = s.till - s.from
	}
	h.left -= s.till - s.from
	h.bytes -= bytes
	a.res.Freed.Bytes += bytes
	if h.left == 0 {
		a.res.Freed.Count++
		a.reuse(s.held)
	}
}

// reuse frees a place that nothing holds.
func (a *Analysis) reuse(i int32) {
	if h := &a.held[i]; h.left == 0 && h.bound {
		*h = held{}
		a.free = append(a.free, i)
	}
}

// Result returns the findings so far. It is to be called when all records have been.
func (a *Analysis) Result() *Result {
	a.bound.Flush()
	res := a.res
	res.Outstanding = Amount{res.Allocated.Count - res.Freed.Count, res.Allocated.Bytes - res.Freed.Bytes}
	return &res
}

// Samples returns what is outstanding, with the stacks of where it was allocated. Labels are
// the tag of a pool and whether it is paged, or the type of an object and its name. It is to be
// called when all records have been.
func (a *Analysis) Samples() []*stacks.Samples {
	a.bound.Flush()
	types := []stacks.ValueType{{Name: "allocations", Unit: "count"}, {Name: a.Kind.Name, Unit: "bytes"}}
	if a.Kind.unsized {
		types = []stacks.ValueType{{Name: "handles", Unit: "count"}}
	}
	out := stacks.NewSamples(a.Kind.Name, types...)
	var frames []uint64
	for i := range a.held {
		h := &a.held[i]
		if h.left == 0 {
			continue
		}
		pid, tid := h.thread.IDs()
		if pid < 0 {
			pid = h.pid
		}
		frames = a.bound.AppendFrames(frames[:0], h.stack)
		labels := stacks.LabelSet(0)
		if a.Kind.label != nil {
			labels = a.Kind.label(a, out, h)
		}
		values := []int64{1, int64(min(h.bytes, 1<<62))}
		out.AddStack(time.Unix(0, h.at), pid, tid, out.InternAddresses(pid, frames), labels, values[:len(types)]...)
	}
	return []*stacks.Samples{out}
}
