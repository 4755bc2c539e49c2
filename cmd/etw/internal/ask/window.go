package ask

import (
	"cmp"

	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/trace"
)

// widen has an inquiry take the records of all times, if the answer is placed or clips intervals.
func (q *Question) widen(i *pick.Inquiry, isPlaced bool, t *trace.Trace, h *filter.Header) {
	i.CutText = q.cut
	if i.Wide = isPlaced || q.clips; i.Wide {
		i.CutText = cmp.Or(q.cut, code.Clipped)
	}
	if q.clips {
		code.Clip(i.Mux, t, h)
		if i.Whole != nil {
			code.Clip(i.Whole, t, h)
		}
	}
}

// prepare tells an answer what it wants to know before there are records.
func prepare(a answer, i *pick.Inquiry, t *trace.Trace, h *filter.Header) {
	if c, ok := a.(chooser); ok {
		c.choose(h)
		h.Processes, h.Lives, h.Threads = nil, nil, nil
	}
	if x, ok := a.(causal); ok && h.Caused != nil && x.choosing() != nil {
		x.choosing()(h.Caused)
		if i.Whole == nil {
			h.During, h.Taken = nil, nil
		}
	}
	if x, ok := a.(timed); ok {
		x.samplesEach(code.SamplingInterval(t))
	}
}
