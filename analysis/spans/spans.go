// Package spans answers in which span, as tracing systems know it, a thread of a .NET program
// worked at a moment: by the ids of W3C trace context that activities have when they begin.
// Use it to lead from a sample of a profile to the trace of a request.
//
// The events are those of activities that begin while it is recorded. Work for one that was
// on before has no span here.
package spans

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/internal/dyn"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Needs are the begins of all activities of .NET 6 and later, of which the session changes
// neither whether they are recorded nor whether others hear of it, and for whom threads work.
// A process passes on the activities that the last session asked for, and no others.
var Needs = []need.Need{
	{What: "spans", Provider: source, Keywords: 0x2, Level: etw.LevelVerbose, Args: "FilterAndPayloadSpecs=\"[AS]*/Start-Propagate:-TraceId;SpanId\""},
	{What: "the flow of activities", Provider: "System.Threading.Tasks.TplEventSource", Keywords: 0x40080, Names: "TasksFlowActivityIds, DebugActivityId", Level: etw.LevelInformational},
}

const source = "Microsoft-Diagnostics-DiagnosticSource"

// An ID is that of a span and of its trace, in hexadecimal.
type ID struct{ Trace, Span string }

// An Analysis follows the spans in the records that a [etw.Mux] dispatches.
type Analysis struct {
	flow   *activities.Analysis
	fields dyn.Reader
	begin  int64 // of the session, in nanoseconds since 1970
	ids    map[*activities.Activity]ID
	worked map[thread][]work
	count  int
}

type thread struct{ process, id int64 }

// A work is a time in which a thread worked for an activity.
type work struct {
	from, to time.Duration // since the session began
	of       *activities.Activity
}

// maxKept bounds the spans and the works that are kept.
const maxKept = 1 << 18

// New returns an analysis whose handlers are registered at mux.
func New(mux *etw.Mux) *Analysis {
	defer need.Ask(mux, Needs)()
	a := &Analysis{flow: activities.Of(mux), ids: make(map[*activities.Activity]ID), worked: make(map[thread][]work)}
	a.flow.OnSpan(func(pid int64, s activities.Span) {
		if a.count++; a.count <= maxKept {
			t := thread{pid, s.Thread}
			a.worked[t] = append(a.worked[t], work{s.Since, s.Until, s.Of})
		}
	})
	mux.HandleRest(a.started)
	return a
}

// started takes the begin of an activity.
func (a *Analysis) started(r *etw.Record) error {
	if r.ProviderName != source || r.Opcode != etw.OpcodeStart || len(a.ids) >= maxKept || !a.fields.Read(r) {
		return nil
	}
	a.begin = when.Of(r) - int64(r.Elapsed())
	var id ID
	for pair := range a.fields.Value("Arguments").Elements() {
		switch dyn.Member(pair, "Key").Text() {
		case "TraceId":
			id.Trace = dyn.Member(pair, "Value").Text()
		case "SpanId":
			id.Span = dyn.Member(pair, "Value").Text()
		}
	}
	if x := a.flow.Lookup(r, r.ActivityID); x != nil && strings.Trim(id.Trace, "0") != "" && strings.Trim(id.Span, "0") != "" {
		a.ids[x] = id
	}
	return nil
}

// Finish ends all that goes on at the end of the session.
func (a *Analysis) Finish() {
	a.flow.Finish()
	for _, list := range a.worked {
		order.Stable(list, func(x, y work) int { return cmp.Compare(x.from, y.from) })
	}
}

// At returns the span that a thread worked for at a time, in nanoseconds since 1970, and
// whether there is one. It takes a finished analysis.
func (a *Analysis) At(process, id, at int64) (ID, bool) {
	list, since := a.worked[thread{process, id}], time.Duration(at-a.begin)
	i, _ := slices.BinarySearchFunc(list, since, func(w work, t time.Duration) int { return cmp.Compare(w.from, t+1) })
	if i == 0 || since >= list[i-1].to {
		return ID{}, false
	}
	for x := list[i-1].of; x != nil; x = x.Parent {
		if id, ok := a.ids[x]; ok {
			return id, true
		}
	}
	return ID{}, false
}
