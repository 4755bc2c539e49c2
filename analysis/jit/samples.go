package jit

import (
	"math"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// Kind is the kind of samples that [Analysis.Samples] returns.
const Kind = "jit"

func newSamples() *stacks.Samples {
	return stacks.NewSamples(Kind, stacks.ValueType{Name: "methods", Unit: "count"}, stacks.ValueType{Name: "compiling", Unit: "nanoseconds"})
}

// Samples returns the compilations that are over, with the stacks of the threads that
// compiled: of code that is needed at once these say who called it. Each weighs the time
// without compilations meanwhile on the same thread, so that the sums are Count and
// ExclusiveMS of a [Result].
//
// The label compiled is the method, module its module, tier how much it was optimized, and
// trigger why it was compiled.
func (a *Analysis) Samples() []*stacks.Samples {
	var list []*stacks.Samples
	for _, rt := range a.runtimes.All() {
		s := &rt.State
		if s.samples == nil {
			continue
		}
		out := s.samples.Derive()
		for i := range s.methods {
			m := &s.methods[i]
			if m.orphan {
				continue
			}
			labels := out.Label(0, "compiled", m.name)
			if module := s.modules[m.module]; module != "" {
				labels = out.Label(labels, "module", module)
			}
			labels = out.Label(out.Label(labels, "tier", m.flags.Tier().String()), "trigger", s.trigger(m))
			took := math.Round(rt.MS(m.end-m.begin-m.nested) * 1e6)
			out.AddStack(time.Unix(0, m.time), rt.PID, m.thread, m.stack, labels, 1, int64(took))
		}
		if out.Len() > 0 {
			list = append(list, out)
		}
	}
	return list
}
