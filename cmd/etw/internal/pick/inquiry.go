package pick

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// An Inquiry is one pass of an analysis over traces.
type Inquiry struct {
	Cmd     *cobra.Command
	Mux     *etw.Mux
	Also    *etw.Mux                          // of what needs all records, whatever is asked for; may be nil
	Whole   *etw.Mux                          // of what has the records of other times than those of --activity, too; may be nil
	Beyond  func(*etw.Record, bool) error     // takes the records of all times, and whether they would count; may be nil
	Each    func(*etw.Record, *etw.EventInfo) // sees what the answer does; may be nil
	Names   *Names
	Asked   filter.Numbers // processes
	Span    TimeSpan
	Source  etw.Source                        // the records of the trace, if they are not as it has them
	Rest    func(*etw.Record) error           // takes all records that are left out, of which some name code; may be nil
	Skip    func(*etw.Record)                 // takes the records that are left out; may be nil
	Wide    bool                              // the answer takes the records of all times, and cuts by itself
	Cut     bool                              // by --from or --to
	CutText string                            // says how Cut counts, if not as elsewhere
	Parted  bool                              // by --activity or --during
	regions bool                              // of them, by several regions between marks
	Trouble bool                              // with the trace
	All     func(*etw.Record, *etw.EventInfo) // sees all records, whatever is asked for; may be nil
}

// Read gives the records that h lets through to the analysis, and those that it needs
// to understand them.
func (i *Inquiry) Read(t *trace.Trace, h *filter.Header) error {
	h.From.Resolve(t.Start())
	h.To.Resolve(t.Start())
	i.Cut, i.Parted = h.From != nil || h.To != nil, h.During != nil
	_, i.regions = h.During[filter.Everyone]
	sieve, beyond := NewSieve(h, i.Wide), NewSieve(h, true)
	beyond.header.Taken = nil // it is called by the other one
	whole := WholeSieve(h, i.Wide)
	i.Span.Bound(t.Bounds())
	decoder := builtin.NewDecoder()
	r := &Reading{Cmd: i.Cmd, Progress: show.NewProgress(i.Cmd.ErrOrStderr(), nil), Share: t.Progress}
	source := i.Source
	if source == nil {
		source = t
	}
	err := r.Each(source, func(rec *etw.Record) error {
		e := decoder.Event(rec)
		i.Span.See(rec, t.Elapsed(rec), h, i.Asked)
		i.Names.Learn(decoder, rec, e)
		if i.All != nil {
			i.All(rec, e)
		}
		if i.Also != nil {
			if err := i.Also.Dispatch(rec); err != nil {
				return err
			}
		}
		if i.Whole != nil && whole.Takes(rec, e, t.Elapsed(rec)) {
			if err := i.Whole.Dispatch(rec); err != nil {
				return err
			}
		}
		if i.Beyond != nil {
			if err := i.Beyond(rec, beyond.Takes(rec, e, t.Elapsed(rec))); err != nil {
				return err
			}
		}
		if !sieve.Takes(rec, e, t.Elapsed(rec)) {
			return i.leave(rec)
		}
		if i.Each != nil {
			i.Each(rec, e)
		}
		return i.Mux.Dispatch(rec)
	})
	i.Names.Join()
	i.Trouble = err != nil
	for _, mux := range []*etw.Mux{i.Mux, i.Also, i.Whole} {
		if mux != nil {
			TellLacks(mux, t, i.Trouble)
		}
	}
	return err
}

// TellLacks tells analyses what a trace that was read lacks, if there was trouble with it also its end.
func TellLacks(mux *etw.Mux, t *trace.Trace, trouble bool) {
	window.Of(mux).Lack(lacks(t, trouble))
}

// PartLacks returns what a part of a trace that was read lacks, if there was trouble with it.
func PartLacks(t *trace.Trace, trouble bool) (ends trace.Lacks) {
	l := lacks(t, trouble)
	if l.Begin {
		ends |= trace.LacksBegin
	}
	if l.End {
		ends |= trace.LacksEnd
	}
	return ends
}

// lacks says what a trace that was read lacks of what was recorded.
func lacks(t *trace.Trace, trouble bool) (l window.Lacks) {
	l.Any, l.End = trouble, trouble
	for _, f := range t.Files() {
		n, head := f.Stats(), f.Head()
		if head.Recorder != trace.Windows {
			continue
		}
		if p := f.Part(); p != nil {
			l.Begin, l.End = l.Begin || p.Lacks&trace.LacksBegin != 0, l.End || p.Lacks&trace.LacksEnd != 0
		}
		unknown := isUnplaced(f, len(t.Files()))
		l.Begin, l.End = l.Begin || head.Overwritten || unknown, l.End || unknown
		l.Processors = max(l.Processors, head.Processors)
		l.Any = l.Any || l.Begin || l.End || n.Lost+n.LostBuffers > 0 || f.Damaged()
		for _, fact := range f.Facts() {
			if clean, ok := fact.Value.(bool); ok && fact.Key == "endedCleanly" && !clean && !f.Damaged() {
				l.Any, l.End = true, true
			}
		}
	}
	return l
}

// isUnplaced reports whether a file, one of so many, lacks events of which nothing tells when they were: lost ones,
// but of a part its mark tells; and those of a session that goes on in another file, which may be there.
func isUnplaced(f *trace.File, files int) bool {
	n := f.Stats()
	return f.Part() == nil && (n.Lost+n.LostBuffers > 0 || f.Head().NewFile && files == 1)
}

// leave leaves a record out of the answer.
func (i *Inquiry) leave(rec *etw.Record) error {
	if i.Skip != nil {
		i.Skip(rec)
	}
	if i.Rest == nil {
		return nil
	}
	return i.Rest(rec)
}

// Warnings names the faults of the traces that weaken the answer.
func (i *Inquiry) Warnings(t *trace.Trace) []string {
	list := show.Copies(t)
	n, damaged := t.Stats(), slices.ContainsFunc(t.Files(), (*trace.File).Damaged)
	if n.Lost+n.LostBuffers > 0 {
		list = append(list, show.LostText(n.Lost, n.LostBuffers, damaged))
	}
	switch {
	case damaged:
		list = append(list, show.NotSound)
	case i.Trouble:
		list = append(list, show.NotWhole)
	}
	if i.Cut {
		list = append(list, cmp.Or(i.CutText, "intervals that began before --from, or ended after --to, count as cut off"))
	}
	if i.regions {
		list = append(list, "the marks of --during part the trace into several regions: intervals that go over an end of one count whole, or not; --from and --to of one count the part within")
	} else if i.Parted {
		list = append(list, "intervals not whole in the times of --activity or --during count as cut off")
	}
	if n := i.Mux.Stats().Undecodable; n > 0 {
		list = append(list, fmt.Sprintf("%d records do not fit the events that they claim to be, and are in no number", n))
	}
	return list
}
