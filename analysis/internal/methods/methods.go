// Package methods knows where in memory certain methods of a runtime lie, as the trace lists
// them, so that an analysis knows the meaning of a call stack before any frame has a name.
package methods

import (
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

// Follow has add be told of the methods that runtimes load or list, and done when one has listed
// all. A runtime has a number in the process of the record.
func Follow(mux *etw.Mux, add func(r *etw.Record, runtime uint16, class, method etw.UTF16, from uint64, size uint32), done func(r *etw.Record, runtime uint16)) {
	etw.Handle(mux, func(r *etw.Record, e *clr.AnyMethodLoadVerbose) error {
		add(r, e.GetClrInstanceID(), e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *rundown.AnyMethodDCEndVerbose) error {
		add(r, e.GetClrInstanceID(), e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *rundown.AnyMethodDCStartVerbose) error {
		add(r, e.GetClrInstanceID(), e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *rundown.AnyDCEndComplete) error {
		done(r, e.GetClrInstanceID())
		return nil
	})
}
