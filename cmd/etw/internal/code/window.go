package code

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/files"
	"github.com/etwgen/etwgen/analysis/outstanding"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// keep reads traces, unless the answer was kept.
func (o *Profiling) keep(cmd *cobra.Command, args []string, h *filter.Header) (*Profiled, error) {
	find := func() (*Profiled, error) { return o.profile(cmd, args, h) }
	if o.sourced != nil || o.origins != nil { // they learn on the way
		return find()
	}
	scope := o.scope.Key(h)
	return cli.Kept(cmd, fmt.Sprint("profile ", o.Of, o.naming, o.raw, o.tiers, o.sampled, scope, o.Symbols, o.In.Key(), cli.Stamps(args)), find)
}

// hasRest reports whether there are more samples than there is room for: then a part of the
// time, read alone, has more to tell.
func (p *Profiled) hasRest() bool { return !p.given && p.Rest() != stacks.Rest{} }

// window leaves of the samples of all times those of the time that is asked for.
func (o *Profiling) window(cmd *cobra.Command, p *Profiled, h *filter.Header) error {
	if p.given || p.Len() == 0 {
		return nil
	}
	start := p.T.Start()
	q := stacks.Query{Spans: samples.Find(o.Of).Spans, From: h.From.In(start), To: h.To.In(start)}
	view, err := p.Query(cmd.Context(), q)
	if err != nil {
		return err
	}
	p.Profile, p.windowed = view.Profile(), true
	if p.Facts = nil; p.part != nil && p.Len() > 0 {
		p.Facts = p.part(p.Profile, q)
	}
	if q.Spans {
		p.warnings = append(p.warnings, Clipped)
	}
	if p.Len() == 0 {
		span := p.span.Cut(h, etw.FileTimeOf(start))
		if p.none = span.WhyNone(&o.scope); p.none == "" {
			p.none = noneInPart
		}
	}
	return nil
}

// foresee asks for a part of the time before anybody does, since the first one costs a scan of all
// samples.
func (o *Profiling) foresee(cmd *cobra.Command, p *Profiled) {
	if cmd.Context().Value(cli.ShelfKey{}) != nil && !p.given && p.Len() > fewSamples && !samples.Find(o.Of).Spans {
		go p.Query(context.WithoutCancel(cmd.Context()), stacks.Query{From: p.T.Start().Add(1)})
	}
}

// Clipped says what a part of the time has of intervals.
const Clipped = "of intervals from before --from, or to after --to, the part within counts"

// noneInPart says that there would be samples without flags that choose some.
const noneInPart = "the trace has an answer, but not for the time and the processes that were asked for"

// widened returns what to read for a question about a part of the time: all of it, which is kept. Of
// samples that are made of events of several processes it is that of all of them.
func (o *Profiling) widened(asked *filter.Header) filter.Header {
	wide := *asked
	if asked.During == nil {
		wide.From, wide.To = nil, nil
		if o.isOfSeveral() {
			wide.Processes, wide.Lives = nil, nil
		}
	}
	return wide
}

// isOfSeveral reports whether samples are made of events of several processes: the switch away from a
// thread is an event of another one, the end of a request is nobody's, and others give memory back.
func (o *Profiling) isOfSeveral() bool {
	return slices.Contains([]string{threads.Blocked, files.Kind, disk.Kind,
		outstanding.VirtualMemory.Name, outstanding.NativeHeap.Name, outstanding.Pool.Name, outstanding.Handles.Name}, o.Of)
}

// ofProcesses leaves of the samples of all processes those of the ones that are asked for.
func (p *Profiled) ofProcesses(asked *filter.Header) {
	if p.given || p.Len() == 0 || len(asked.Processes) == 0 {
		return
	}
	p.Profile = p.Only(func(s stacks.Sample) bool { return asked.Processes.Has(s.Process) && asked.Lived(s.Process, s.Time) })
	if p.Len() == 0 {
		p.none = noneInPart
		return
	}
	switch {
	case asked.Partial && p.part == nil:
		p.Facts = nil
		return
	case asked.Partial:
		p.Facts = p.part(p.Profile, stacks.Query{})
		return
	case p.part == nil:
		p.Facts = Prefixed("of all processes: ", p.Facts)
		return
	}
	p.Facts = append(p.part(p.Profile, stacks.Query{}), Prefixed("of all processes: ", p.Facts[1:])...)
}

// tellOfLeft has the facts about samples be of those that filters left of so many, with whole stacks or not.
func (p *Profiled) tellOfLeft(had int, whole bool) {
	if p.given {
		return
	}
	if p.part != nil && p.before == nil && p.Len() > 0 && p.Len() < had && len(p.Facts) > 0 {
		switch p.Kind {
		case cpu.ThreadTime:
			p.Facts = append(p.part(p.Profile, stacks.Query{}), p.Facts[1:]...)
		case threads.Blocked:
			p.Facts = append(p.part(p.Profile, stacks.Query{})[:1], p.Facts[1:]...)
		}
	}
	p.Facts = append(slices.Clip(p.Facts), waitingFact(p.Profile)...)
	if whole && p.callers {
		p.Facts = append(p.Facts, callerlessFact(p.Profile)...)
	}
	if !p.windowed || p.Len() <= fewSamples {
		p.Facts = append(p.Facts, unseenFact(p.Profile)...)
	}
	p.Facts = append(p.Facts, stoppedFact(p.Profile)...)
}

// fewSamples is up to how many samples of a window are looked at one by one. Of more, of which the
// page shows one window after the other, all of the trace has that fact.
const fewSamples = 1 << 18

// Clip tells the analyses of a mux the part of the time that was asked for, if one was.
func Clip(mux *etw.Mux, t *trace.Trace, h *filter.Header) {
	if h.From != nil || h.To != nil {
		window.Of(mux).Between(h.From.In(t.Start()), h.To.In(t.Start()))
	}
}
