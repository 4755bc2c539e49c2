package jit

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/names"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// decisions counts those of the compiler about calls.
type decisions struct {
	succeeded, failed, never int
	reasons                  names.Table[int]
	narrow                   map[string]int                // reasons in 8-bit characters
	callees                  names.Table[names.Table[int]] // by namespace and name
}

func (d *decisions) fail(namespace, callee etw.UTF16, never bool) {
	d.failed++
	if never {
		d.never++
	}
	d.callees.At(namespace).Value.At(callee).Value++
}

func (d *decisions) because(reason etw.ANSI) {
	if d.narrow == nil {
		d.narrow = make(map[string]int)
	}
	d.narrow[string(reason)]++
}

func (a *Analysis) handleDecisions(mux *etw.Mux) {
	t := &a.runtimes
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.MethodJitInliningSucceeded) {
		rt.State.seen = true
		rt.State.inlining.succeeded++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.MethodJitInliningFailed) {
		rt.State.seen = true
		rt.State.inlining.fail(e.InlineeNamespace, e.InlineeName, e.FailAlways.True())
		rt.State.inlining.reasons.At(e.FailReason).Value++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.MethodJitInliningFailedAnsi) {
		rt.State.seen = true
		rt.State.inlining.fail(e.InlineeNamespace, e.InlineeName, e.FailAlways.True())
		rt.State.inlining.because(e.FailReason)
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, _ *clr.MethodJitTailCallSucceeded) {
		rt.State.seen = true
		rt.State.tailCalls.succeeded++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.MethodJitTailCallFailed) {
		rt.State.seen = true
		rt.State.tailCalls.fail(e.CalleeNamespace, e.CalleeName, false)
		rt.State.tailCalls.reasons.At(e.FailReason).Value++
	})
	lives.On(t, mux, func(rt *runtime, _ *etw.Record, e *clr.MethodJitTailCallFailedAnsi) {
		rt.State.seen = true
		rt.State.tailCalls.fail(e.CalleeNamespace, e.CalleeName, false)
		rt.State.tailCalls.because(e.FailReason)
	})
}

// maxCallees is how many callees are listed.
const maxCallees = 100

// result returns the decisions, or nil if there are none.
func (d *decisions) result() *Inlining {
	if d.succeeded+d.failed == 0 {
		return nil
	}
	out := &Inlining{Succeeded: d.succeeded, Failed: d.failed, Never: d.never}
	for _, r := range d.reasons.All() {
		out.Reasons = append(out.Reasons, Reason{r.Name, r.Value})
	}
	for r, n := range d.narrow {
		out.Reasons = append(out.Reasons, Reason{etw.ANSI(r).String(), n})
	}
	for _, namespace := range d.callees.All() {
		for _, callee := range namespace.Value.All() {
			out.Callees = append(out.Callees, Reason{namespace.Name + "." + callee.Name, callee.Value})
		}
	}
	byCount := func(a, b Reason) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason)) }
	order.Sort(out.Reasons, byCount)
	order.Sort(out.Callees, byCount)
	out.Callees = out.Callees[:min(len(out.Callees), maxCallees)]
	return out
}
