// Package methods knows where in memory certain methods of a runtime lie, as the trace lists
// them, so that an analysis knows the meaning of a call stack before any frame has a name.
package methods

import (
	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Spans are where some methods lie.
type Spans []span

type span struct{ from, to uint64 }

// Add adds a method, which is compiled a few times at most.
func (s *Spans) Add(from uint64, size uint32) {
	const most = 64
	if len(*s) < most {
		*s = append(*s, span{from, from + uint64(size)})
	}
}

// Has reports whether an address of a call stack is in one of the methods.
func (s Spans) Has(address uint64) bool {
	for _, x := range s {
		if x.from <= address && address <= x.to { // a return address may be that of the end
			return true
		}
	}
	return false
}

// A Code has a state for each runtime: where the methods lie that an analysis looks for.
type Code[T any] struct {
	runtimes lives.Table[T]
	skipped  etw.Mux
}

// Of returns the state of the runtime with a number in the process of the record.
func (c *Code[T]) Of(r *etw.Record, runtime uint16) *T { return &c.runtimes.At(r, runtime).State }

// Skip learns from a record that the analysis itself is not given, such as one outside of the
// time that was asked for: the list of all methods is at the end of a trace.
func (c *Code[T]) Skip(r *etw.Record) error { return c.skipped.Dispatch(r) }

// Follow has add be told of the methods that runtimes load or list, and done when one has listed
// all.
func (c *Code[T]) Follow(mux *etw.Mux, add func(t *T, class, method etw.UTF16, from uint64, size uint32), done func(t *T)) {
	for _, m := range []*etw.Mux{mux, &c.skipped} {
		c.runtimes.Watch(m)
		lives.On(&c.runtimes, m, func(rt *lives.Runtime[T], _ *etw.Record, e *clr.AnyMethodLoadVerbose) {
			add(&rt.State, e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		})
		lives.On(&c.runtimes, m, func(rt *lives.Runtime[T], _ *etw.Record, e *rundown.AnyMethodDCEndVerbose) {
			add(&rt.State, e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		})
		lives.On(&c.runtimes, m, func(rt *lives.Runtime[T], _ *etw.Record, e *rundown.AnyMethodDCStartVerbose) {
			add(&rt.State, e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		})
		lives.On(&c.runtimes, m, func(rt *lives.Runtime[T], _ *etw.Record, _ *rundown.AnyDCEndComplete) { done(&rt.State) })
	}
}
