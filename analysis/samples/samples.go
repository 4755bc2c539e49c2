// Package samples is the table of the quantities that call stacks can be weighed by: time,
// allocations, exceptions, waits and the rest, each with the events to record for it. Use it
// to offer all of them by name; for one alone use the package of its analysis.
package samples

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/files"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/outstanding"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Source is an analysis that has samples, when all records were dispatched.
type Source interface{ Samples() []*stacks.Samples }

// A Kind is something that can be weighed.
type Kind struct {
	Name  string
	Needs []need.Need
	// OwnStacks says that the analysis itself binds stacks that are events of their own.
	OwnStacks bool
	// Spans says that samples weigh nanoseconds that begin at their time: see [stacks.Query].
	Spans bool
	// New returns the analysis, with its handlers registered at the mux.
	New func(*etw.Mux) Source
}

// Kinds are all of them, the most usual first.
var Kinds = []Kind{
	{"cpu", cpu.Needs, true, false, func(m *etw.Mux) Source { return NewProcessors(m) }},
	{"allocs", alloc.Needs, false, false, func(m *etw.Mux) Source { return alloc.New(m) }},
	{"exceptions", exceptions.Needs, false, false, func(m *etw.Mux) Source { return exceptions.New(m) }},
	{"contention", contention.Needs, false, true, func(m *etw.Mux) Source { return contention.New(m) }},
	{"blocked", threads.Needs, true, true, func(m *etw.Mux) Source { return threads.New(m) }},
	{"disk", disk.Needs, true, true, func(m *etw.Mux) Source { return disk.New(m) }},
	{"files", files.Needs, true, true, func(m *etw.Mux) Source { return files.New(m) }},
	{"jit", jit.Needs, false, true, func(m *etw.Mux) Source { return jit.New(m) }},
	{"waits", waits.Needs, false, true, func(m *etw.Mux) Source { return waits.New(m) }},
	{"handles", handles.Needs, false, false, func(m *etw.Mux) Source { return handles.New(m) }},
	notGivenBack(&outstanding.VirtualMemory),
	notGivenBack(&outstanding.NativeHeap),
	notGivenBack(&outstanding.Pool),
	notGivenBack(&outstanding.Handles),
}

func notGivenBack(k *outstanding.Kind) Kind {
	return Kind{k.Name, k.Needs, true, false, func(m *etw.Mux) Source { return k.New(m) }}
}

// Names returns the names of all kinds.
func Names() []string {
	var names []string
	for i := range Kinds {
		names = append(names, Kinds[i].Name)
	}
	return names
}

// Find returns the kind with a name, or nil.
func Find(name string) *Kind {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return &Kinds[i]
}
