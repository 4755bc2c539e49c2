package ask

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// machineParts are the answers about the machine of which a page is made, each as its command
// has it: processes that are asked for are chosen from those of all records.
type machineParts struct {
	mux     etw.Mux
	wide    *etw.Mux    // of the analyses that follow a window: of all times, if a part is asked for, or else mux
	sieve   *pick.Sieve // without processes and threads
	narrow  bool        // only threads are asked for
	usage   *system.Usage
	network *system.Network
	files   *system.Files
	faults  *system.Faults
	threads *threads.Analysis
	disks   *disk.Analysis
	breaks  *interrupts.Analysis
	keys    *system.Registry
}

func newMachineParts(h *filter.Header, t *trace.Trace) *machineParts {
	judge := *h
	judge.Processes, judge.Threads = nil, nil
	p := &machineParts{sieve: pick.NewSieve(&judge, false), narrow: h.Threads != nil}
	if p.wide = &p.mux; (h.From != nil || h.To != nil) && h.During == nil {
		p.wide = new(etw.Mux)
		code.Clip(p.wide, t, h)
	}
	p.usage, p.threads, p.faults, p.files = system.NewUsage(p.wide), threads.New(p.wide), system.NewFaults(p.wide), system.FilesOf(p.wide)
	p.breaks, p.keys = interrupts.New(p.wide), system.NewRegistry(p.wide)
	p.network, p.disks = system.NewNetwork(&p.mux), disk.New(&p.mux)
	p.threads.SumsOnly()
	p.usage.SetInterval(code.SamplingInterval(t))
	return p
}

// take takes a record, if it was asked for or others need it.
func (p *machineParts) take(rec *etw.Record, e *etw.EventInfo, t *trace.Trace) error {
	if p.wide != &p.mux {
		if err := p.wide.Dispatch(rec); err != nil {
			return err
		}
	}
	if !p.sieve.Takes(rec, e, t.Elapsed(rec)) {
		return nil
	}
	return p.mux.Dispatch(rec)
}

// untold says of a part of some processes or threads that it does not tell of interrupts, which are
// nobody's.
func (p *machineParts) untold(h *filter.Header) []string {
	if !h.Partial || p.usage.Samples()+p.usage.Switches() == 0 || len(p.breaks.Result().Routines) > 0 {
		return nil
	}
	return []string{"the trace is a part of some processes or threads: whether interrupts and DPCs kept processors is not known"}
}

// lanes returns the analyses whose lanes the page has, too: of processes, so that there are
// none of threads.
func (p *machineParts) lanes() []any {
	if p.narrow {
		return nil
	}
	return []any{p.network, p.threads, p.disks, system.Of(p.wide)}
}

// machine returns the part of a page about the machine, or nil if the trace has no such
// events. Of threads alone it has these, and no files and connections, which no thread is
// told of.
func (p *machineParts) machine(of *machine) *html.Machine {
	p.usage.Settle()
	m := &html.Machine{System: p.usage.Result(), Images: system.Of(&p.mux).ImagesResult(), Files: p.files.Result(), Faults: p.faults.Result(), Network: p.network.Result(), Switched: p.threads.Result(), Breaks: p.breaks.Result(), Registry: p.keys.Result()}
	s := m.System
	s.Processes = order.Delete(s.Processes, func(x system.ProcessFacts) bool { return !of.asked.Program(x.PID, x.Name) })
	s.Threads = order.Delete(s.Threads, func(x system.ThreadFacts) bool { return !of.has(int64(x.PID), x.Process, x.TID) })
	m.Images.Images = order.Delete(m.Images.Images, func(x system.ImageFacts) bool { return !of.asked.Program(x.PID, x.Process) })
	m.Files.Files = order.Delete(m.Files.Files, func(x system.FileFacts) bool { return p.narrow || !of.asked.Program(int64(x.PID), x.Process) })
	m.Faults.Faults = order.Delete(m.Faults.Faults, func(x system.FaultFacts) bool { return p.narrow || !of.asked.Program(int64(x.PID), x.Process) })
	m.Network.Connections = order.Delete(m.Network.Connections, func(x system.ConnectionFacts) bool { return p.narrow || !of.asked.Program(int64(x.PID), x.Process) })
	m.Registry.Keep(func(pid int64, name string) bool { return !p.narrow && of.asked.Program(pid, name) })
	if of.parted() {
		m.Switched.Keep(func(t *threads.Thread) bool { return of.has(t.PID, t.Process, t.TID) })
	}
	if !m.Any() {
		return nil
	}
	return m
}

// chooseLanes leaves out the lanes of processes that were not asked for.
func chooseLanes(res *timeline.Result, chosen *machine) {
	if res != nil {
		res.Lanes = order.Delete(res.Lanes, func(l *timeline.Lane) bool { return !chosen.hasLane(l) })
	}
}

// headOf returns the line that a page begins with: the machine, its system, and how long the
// trace is.
func headOf(m *html.Machine, t *trace.Trace) string {
	words := []string{}
	if m != nil {
		words = append(words, m.System.Machine.Computer, strings.TrimSpace(m.System.Machine.System+" "+m.System.Machine.Build))
	}
	for _, f := range t.Files() {
		for _, fact := range f.Facts() {
			if ms, ok := fact.Value.(float64); ok && fact.Key == "durationMs" {
				words = append(words, measure.Span(ms))
			}
		}
	}
	return strings.Join(order.Delete(words, func(w string) bool { return w == "" }), " · ")
}
