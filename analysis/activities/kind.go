package activities

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// A Kind says where time went.
type Kind uint8

// The kinds of time. The first ones are of a thread that works for an activity; an earlier
// one wins where two are at a time, but for Running, which is the rest.
const (
	Running  Kind = iota // in code, with a processor, or without one where no switches are told
	GC                   // stopped for a collection
	JIT                  // compiling
	Lock                 // waiting for a lock
	Blocked              // waiting for something else
	Ready                // without a processor; if it has a call stack, that tells whether it waited
	Queued               // in the queue of the thread pool
	Others               // a thread worked that let it go on, and for which the trace has no activity, or another one
	Awaiting             // nothing of it could run
	Untold               // a thread worked or waited in native code, and nothing tells which: call stacks and their names tell such a time
	Kinds                // is how many there are

	sampled = Kinds // outside managed code, by samples: running or waiting
)

var kindNames = [Kinds]string{"running", "gc", "jit", "lock", "blocked", "ready", "queued", "others", "awaiting", "untold"}

func (k Kind) String() string { return kindNames[k] }

// A state is a time in which a thread did not run code of its own.
type state struct {
	thread   int64 // 0 for all
	from, to int64
	kind     Kind
	by       int64 // the thread that held the lock
	code     stacks.ID
}

// flatten returns the states of a thread and of all, one at a time.
func flatten(thread int64, states []state) (flat []state) {
	type edge struct {
		at   int64
		kind Kind
		by   int
		code stacks.ID
	}
	var edges []edge
	for _, s := range states {
		edges = append(edges, edge{s.from, s.kind, 1, s.code}, edge{s.to, s.kind, -1, 0})
	}
	order.Sort(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	var open [sampled + 1]int
	var codes [sampled + 1]stacks.ID // of what began last
	since, kind := int64(0), Running
	for _, e := range edges {
		if kind != Running && since < e.at {
			f := state{thread: thread, from: since, to: e.at, kind: kind, code: codes[kind]}
			if kind == sampled {
				f.kind = Running
			}
			if n := len(flat); n > 0 && kind == Blocked && flat[n-1].kind == Blocked && flat[n-1].to == since { // one wait, as several events tell of it
				flat[n-1].to, flat[n-1].code = e.at, cmp.Or(flat[n-1].code, f.code)
			} else {
				flat = append(flat, f)
			}
		}
		open[e.kind] += e.by
		if e.by > 0 && (e.code != 0 || open[e.kind] == 1) {
			codes[e.kind] = e.code
		}
		since, kind = e.at, Running
		for _, k := range [...]Kind{GC, JIT, Lock, Blocked, Ready, sampled, Untold} {
			if open[k] > 0 {
				kind = k
				break
			}
		}
	}
	return flat
}

// A Layer is how a trace tells for whom threads work.
type Layer uint8

// The layers, the exact one last.
const (
	None Layer = iota
	Tasks
	Flow
)

var layerNames = [...]string{"none", "tasks", "flow"}

func (l Layer) String() string { return layerNames[l] }

// A wait has begun.
type wait struct {
	since int64
	owner int64 // of the lock
	code  stacks.ID
}

// A compiling is a method that a thread compiles.
type compiling struct {
	method uint64
	since  int64
}

// A sampling holds the samples of a thread since it began to work for an activity. Each
// stands for the time from half way to the one before to half way to the next one.
type sampling struct {
	last int64     // sample
	code stacks.ID // outside managed code, or 0
	from int64     // since when
}
