package ship

import (
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/figures"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/trace"
)

// machineOf asks the trace about its machine, as the commands for machines do: the processes are
// chosen from the answers, and the part of the time is cut from what lasts.
func (s *sideReader) machineOf(t *trace.Trace, h *filter.Header) func() []compare.Figure {
	mux := &s.code.Mux // of all records
	if h.During != nil {
		mux = &s.beside
	} else {
		code.Clip(mux, t, h)
	}
	usage, files, faults, network := system.NewUsage(mux), system.FilesOf(mux), system.NewFaults(mux), system.NewNetwork(mux)
	switched, breaks := threads.New(mux), interrupts.New(mux)
	switched.SumsOnly()
	usage.SetInterval(code.SamplingInterval(t))
	return func() []compare.Figure {
		usage.Settle()
		m := figures.Machine{System: usage.Result(), Files: files.Result(), Faults: faults.Result(), Network: network.Result(), Threads: switched.Result(), Breaks: breaks.Result()}
		if h.Processes != nil {
			m.Asked = h.Program
		}
		return m.Figures()
	}
}
