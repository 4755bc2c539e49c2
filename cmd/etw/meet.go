package main

import (
	"os"
	"strings"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A meeting is what the first events of a trace show of all.
type meeting struct {
	sel       *selector
	t         *trace.Trace
	several   bool // files
	glance    bool // it is of files that were not read to the end before
	descs     []*etw.EventDesc
	processor bool // some event has one
	width     int  // of the longest title of an event
	brief     int  // of the longest brief title
	processes map[int64]bool
	names     *names
	known     []bool // by the index of the event
	nameless  bool   // an event was met of which the begin of the trace says nothing
	kernel    bool   // events of the kernel were met, beside those of the session
}

func newMeeting(sel *selector, t *trace.Trace) *meeting {
	return &meeting{sel: sel, t: t, names: foresee(), several: len(t.Files()) > 1, processes: make(map[int64]bool)}
}

// meet takes note of a record, if filters of its header let it through.
func (m *meeting) meet(r *etw.Record) {
	m.several = m.several || r.File != "" && len(m.t.Files()) == 1 && m.isOther(r.File)
	e := m.sel.decoder.Event(r)
	m.names.learn(m.sel.decoder, r, e)
	m.kernel = m.kernel || builtin.IsKernel(r) && r.Provider != sessionClass
	if m.sel.given && m.sel.header.Judge(r, e, m.t.Elapsed(r)) != filter.Take {
		return
	}
	m.processor = m.processor || r.Processor >= 0
	m.processes[r.ProcessID] = true
	for e.Index >= len(m.known) {
		m.known = append(m.known, false)
	}
	if m.known[e.Index] {
		return
	}
	m.known[e.Index] = true
	if m.glance && e.Desc == nil && r.Kind == etw.KindManifest {
		m.nameless = true
		m.width = max(m.width, streamName)
		return
	}
	m.width = max(m.width, textWidth(eventTitle(e)))
	m.brief = max(m.brief, textWidth(briefTitle(e)))
	if e.Desc != nil {
		m.descs = append(m.descs, e.Desc)
	}
}

// isOther reports whether a file that is read as one with others is meant.
func (m *meeting) isOther(file string) bool { return m.t.Files()[0].Name() != file }

var sessionClass = (*kernel.AnyEventTraceHeader)(nil).EventDescs()[0].Class

// lookLimit returns how many events may be looked at before the first is printed.
// Of a stream that is only what has come.
func lookLimit(paths []string) int {
	for _, path := range paths {
		if info, err := os.Stat(path); path == trace.Stdin || err != nil || !info.Mode().IsRegular() {
			return 1
		}
	}
	return aheadEvents
}

// eventTitle returns the names of the provider and the event, as one line.
func eventTitle(e *etw.EventInfo) string {
	if strings.HasPrefix(e.Name, e.Provider+"/") {
		return clean(e.Name) // that of the provider is in it
	}
	return clean(e.Provider + "/" + e.Name)
}

// briefTitle is the title with the alias of the provider, if it has one: where
// there is little room, it says more than what is left of the name.
func briefTitle(e *etw.EventInfo) string {
	for _, b := range builtin.Providers {
		if b.Desc.Name == e.Provider {
			return clean(b.Alias + "/" + e.Name)
		}
	}
	return eventTitle(e)
}

// resolve completes what of the filters depends on the trace.
func (s *selector) resolve(t *trace.Trace) {
	s.header.From.Resolve(t.Start())
	s.header.To.Resolve(t.Start())
}

// checkNames checks that there are fields of the given names.
func (s *selector) checkNames(flag string, names []string, met []*etw.EventDesc, whole bool) error {
	descs := s.candidates(met, whole)
	for _, name := range names {
		if len(filter.FindField(descs, []string{name})) > 0 || !whole && len(descs) == 0 {
			continue
		}
		known := filter.FieldNames(descs)
		return usagef("%s: %s", flag, explainField(&filter.UnknownField{Name: name, Known: known}))
	}
	return nil
}

// Widths of columns.
const (
	timeWidth  = 12
	dateWidth  = 27
	idWidth    = 8
	fileWidth  = 18
	leastOwner = 12
	mostOwner  = 24

	narrowLine  = 100 // on a terminal that is not as wide
	narrowOwner = 16
	leastName   = 24
	mostName    = 64
	streamName  = 40 // where nothing is known of what will come
)
