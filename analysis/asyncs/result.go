package asyncs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A Runtime has the facts that the runtime of a process tells of its async methods.
type Runtime struct {
	Buffers int `json:"buffers"`
	Events  int `json:"events"`  // in buffers
	Threads int `json:"threads"` // that had some
	// Runs are the times in which a thread went on with a task, and RunningMS how long threads
	// did so.
	Runs      int     `json:"runs"`
	RunningMS float64 `json:"runningMs"`
	// Awaits are those that ended, and AwaitingMS how long they took, all together.
	Awaits     int       `json:"awaits"`
	AwaitingMS float64   `json:"awaitingMs"`
	Traces     int       `json:"traces,omitempty"`  // different ids of W3C traces that threads worked for
	Methods    []*Method `json:"methods,omitempty"` // those that awaited and ran longest first
	// Untold are events that tell nothing without others, which were lost or are of the time
	// before the recording.
	Untold int `json:"untold,omitempty"`
	// Unknown are buffers of a newer form, the last of which is of Version, or has an event with
	// the number Event that nothing tells the length of; Damaged are those that contradict
	// themselves. Neither is in another number.
	Unknown int   `json:"unknown,omitempty"`
	Version uint8 `json:"version,omitempty"`
	Event   uint8 `json:"event,omitempty"`
	Damaged int   `json:"damaged,omitempty"`
}

// A Method is an async method.
type Method struct {
	Name string `json:"name"`
	// Runs are the times in which it ran with no other one between.
	Runs         int     `json:"runs"`
	RunningMS    float64 `json:"runningMs"`
	LongestRunMS float64 `json:"longestRunMs"`
	// Awaits are those of which the begin was told, too.
	Awaits     int     `json:"awaits"`
	AwaitingMS float64 `json:"awaitingMs"`
	LongestMS  float64 `json:"longestMs"`
}

// Result returns the facts that a process has told of itself so far, or nil. A place in code is of the
// method that names gives it, once it is asked for all.
func (a *Analysis) Result(pid int64, life int, names func(places []uint64) []string) *Runtime {
	for _, rt := range a.processes.All() {
		if rt.PID == pid && rt.Life == life {
			return rt.State.result(rt, names)
		}
	}
	return nil
}

func (p *process) result(rt *runtime, names func(places []uint64) []string) *Runtime {
	if p.Buffers+p.Unknown+p.Damaged == 0 {
		return nil
	}
	ms := rt.MS
	if f := p.clock.Frequency; f > 0 {
		ms = func(ticks int64) float64 { return float64(ticks) * 1e3 / float64(f) }
	}
	methods := make(map[uint64]*method, len(p.methods))
	for at, m := range p.methods {
		c := *m
		methods[at] = &c
	}
	for _, x := range p.tasks {
		p.settle(x, methods)
	}
	out := p.Runtime
	out.Threads, out.Traces, out.RunningMS = len(p.threads), len(p.traces), ms(p.ran)
	places := slices.Sorted(maps.Keys(methods))
	byName := make(map[string]*Method)
	for i, name := range names(places) {
		m, x := methods[places[i]], byName[name]
		if x == nil {
			x = &Method{Name: name}
			byName[name] = x
		}
		x.Runs, x.RunningMS, x.LongestRunMS = x.Runs+m.ran.n, x.RunningMS+ms(m.ran.total), max(x.LongestRunMS, ms(m.ran.longest))
		x.Awaits, x.AwaitingMS, x.LongestMS = x.Awaits+m.awaited.n, x.AwaitingMS+ms(m.awaited.total), max(x.LongestMS, ms(m.awaited.longest))
		out.Awaits += m.awaited.n
		out.AwaitingMS += ms(m.awaited.total)
	}
	for _, x := range byName {
		out.Methods = append(out.Methods, x)
	}
	order.Sort(out.Methods, func(a, b *Method) int {
		return cmp.Or(cmp.Compare(b.AwaitingMS+b.RunningMS, a.AwaitingMS+a.RunningMS), cmp.Compare(a.Name, b.Name))
	})
	return &out
}

// Warnings says which events are missing in the numbers, and why.
func (x *Runtime) Warnings() (list []string) {
	if x == nil {
		return nil
	}
	if x.Unknown > 0 {
		list = append(list, fmt.Sprintf("buffers of %s that are left unread: %d. The last is of a newer form (%s); for whom threads work is told all the same, but async methods are not",
			Provider, x.Unknown, unknownError{x.Version, x.Event}))
	}
	if x.Damaged > 0 {
		list = append(list, fmt.Sprintf("buffers of %s that are damaged, or of a preview of .NET 11, and left unread: %d", Provider, x.Damaged))
	}
	return list
}
