package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// An inquiry is one pass of an analysis over traces.
type inquiry struct {
	cmd     *cobra.Command
	mux     *etw.Mux
	also    *etw.Mux                          // of what needs all records, whatever is asked for; may be nil
	more    *etw.Mux                          // of what is asked beside the answer; may be nil
	each    func(*etw.Record, *etw.EventInfo) // sees what the answer does; may be nil
	names   *names
	asked   filter.Numbers // processes
	span    timeSpan
	source  etw.Source        // the records of the trace, if they are not as it has them
	skip    func(*etw.Record) // takes the records that --activity leaves out; may be nil
	wide    bool              // the answer takes the records of all times, and cuts by itself
	cut     bool              // by --from or --to
	parted  bool              // by --activity
	trouble bool              // with the trace
}

// read gives the records that h lets through to the analysis, and those that only
// name things also from outside of the time that was asked for.
func (i *inquiry) read(t *trace.Trace, h *filter.Header) error {
	h.From.Resolve(t.Start())
	h.To.Resolve(t.Start())
	i.cut, i.parted = h.From != nil || h.To != nil, h.During != nil
	judge := *h
	if i.wide {
		judge.From, judge.To = nil, nil
	}
	all := judge.From == nil && judge.To == nil && !i.parted && h.Processes == nil
	decoder := builtin.NewDecoder()
	r := &reading{cmd: i.cmd, progress: newProgress(i.cmd.ErrOrStderr(), nil), share: t.Progress}
	source := i.source
	if source == nil {
		source = t
	}
	err := r.each(source, func(rec *etw.Record) error {
		e := decoder.Event(rec)
		i.span.see(rec, t.Elapsed(rec), h, i.asked)
		i.names.learn(decoder, rec, e)
		if i.also != nil {
			if err := i.also.Dispatch(rec); err != nil {
				return err
			}
		}
		if !all && judge.Judge(rec, e, t.Elapsed(rec)) != filter.Take && !(namesThings(rec) && h.Processes.Has(rec.ProcessID)) {
			if i.skip != nil && i.parted {
				i.skip(rec)
			}
			return nil
		}
		if i.each != nil {
			i.each(rec, e)
		}
		if i.more != nil {
			if err := i.more.Dispatch(rec); err != nil {
				return err
			}
		}
		return i.mux.Dispatch(rec)
	})
	i.trouble = err != nil
	return err
}

// namesThings reports whether a record does nothing but name types, or what there
// is on a machine.
func namesThings(r *etw.Record) bool {
	d := (*clr.BulkType)(nil).EventDesc()
	return r.ID == d.ID && r.Provider == d.Provider.GUID || system.Names(r)
}

// warnings says what of the traces makes the answer less than it could be.
func (i *inquiry) warnings(t *trace.Trace) []string {
	var list []string
	n := t.Stats()
	if n.Lost+n.LostBuffers > 0 {
		list = append(list, lostText(n.Lost, n.LostBuffers))
	}
	if i.trouble {
		list = append(list, notToItsEnd)
	}
	if i.cut {
		list = append(list, "what began before --from, or ended after --to, counts as cut off")
	}
	if i.parted {
		list = append(list, "what was not all on while --activity was counts as cut off")
	}
	if n := i.mux.Stats().Undecodable; n > 0 {
		list = append(list, fmt.Sprintf("%d records do not fit the events that they claim to be, and are in no number", n))
	}
	return list
}
