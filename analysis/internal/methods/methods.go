// Package methods knows where in memory certain methods of a runtime lie, as the trace lists
// them, so that an analysis can tell what a call stack means before any frame has a name.
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

// Follow has add be told of the methods that a runtime loads or lists, and done when it has
// listed all.
func Follow[S any](t *lives.Table[S], mux *etw.Mux, add func(s *S, class, method etw.UTF16, from uint64, size uint32), done func(*S)) {
	lives.On(t, mux, func(rt *lives.Runtime[S], _ *etw.Record, e *clr.AnyMethodLoadVerbose) {
		add(&rt.State, e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
	})
	lives.On(t, mux, func(rt *lives.Runtime[S], _ *etw.Record, e *rundown.AnyMethodDCEndVerbose) {
		add(&rt.State, e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
	})
	lives.On(t, mux, func(rt *lives.Runtime[S], _ *etw.Record, e *rundown.AnyMethodDCStartVerbose) {
		add(&rt.State, e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
	})
	lives.On(t, mux, func(rt *lives.Runtime[S], _ *etw.Record, _ *rundown.AnyDCEndComplete) { done(&rt.State) })
}
