// Package methods knows where in memory certain methods of a runtime lie, as the trace lists
// them, so that an analysis knows the meaning of a call stack before any frame has a name.
package methods

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Spans are where some methods lie.
type Spans []span

type span struct{ from, to uint64 }

// Add adds a method, which is compiled a few times at most, but listed by each part of a trace.
func (s *Spans) Add(from uint64, size uint32) {
	const most = 64
	if x := (span{from, from + uint64(size)}); len(*s) < most && !slices.Contains(*s, x) {
		*s = append(*s, x)
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

// A Known is what is known of the code of a runtime.
type Known struct {
	Spans    [3]Spans // of the kinds of methods that an analysis looks for
	Complete bool     // all methods were listed
	all      []span
	sorted   bool
}

// maxListed bounds how many methods are remembered.
const maxListed = 1 << 20

func (k *Known) list(from uint64, size uint32) {
	if len(k.all) < maxListed {
		k.all, k.sorted = append(k.all, span{from, from + uint64(size)}), false
	}
}

// Lists reports whether a method was listed that an address of a call stack is in. The event that
// lists one may be lost, or damaged, though the list has its end.
func (k *Known) Lists(address uint64) bool {
	if !k.sorted {
		order.Sort(k.all, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
		k.sorted = true
	}
	i, _ := slices.BinarySearchFunc(k.all, address, func(x span, at uint64) int { return cmp.Compare(x.from, at) })
	for _, x := range k.all[max(i-1, 0):min(i+1, len(k.all))] {
		if x.from <= address && address <= x.to {
			return true
		}
	}
	return len(k.all) == maxListed
}

// A Code knows where in memory those methods lie, of each runtime.
type Code struct {
	runtimes lives.Table[Known]
	skipped  etw.Mux
}

// Of returns what is known of the runtime with a number in the process of the record.
func (c *Code) Of(r *etw.Record, runtime uint16) *Known { return &c.runtimes.At(r, runtime).State }

// Skip learns from a record that the analysis itself is not given, such as one outside of the
// time that was asked for: the list of all methods is at the end of a trace.
func (c *Code) Skip(r *etw.Record) error { return c.skipped.Dispatch(r) }

// Follow learns from the methods that runtimes load or list. Of a method kind returns the index of
// its kind, or -1.
func (c *Code) Follow(mux *etw.Mux, kind func(class, method etw.UTF16) int) {
	add := func(r *etw.Record, runtime uint16, class, method etw.UTF16, from uint64, size uint32) error {
		c.Of(r, runtime).list(from, size)
		if k := kind(class, method); k >= 0 {
			c.Of(r, runtime).Spans[k].Add(from, size)
		}
		return nil
	}
	for _, m := range []*etw.Mux{mux, &c.skipped} {
		c.runtimes.Watch(m)
		etw.Handle(m, func(r *etw.Record, e *clr.AnyMethodLoadVerbose) error {
			return add(r, e.GetClrInstanceID(), e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		})
		etw.Handle(m, func(r *etw.Record, e *rundown.AnyMethodDCEndVerbose) error {
			return add(r, e.GetClrInstanceID(), e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		})
		etw.Handle(m, func(r *etw.Record, e *rundown.AnyMethodDCStartVerbose) error {
			return add(r, e.GetClrInstanceID(), e.MethodNamespace, e.MethodName, e.MethodStartAddress, e.MethodSize)
		})
		etw.Handle(m, func(r *etw.Record, e *rundown.AnyDCEndComplete) error {
			c.Of(r, e.GetClrInstanceID()).Complete = true
			return nil
		})
	}
}
