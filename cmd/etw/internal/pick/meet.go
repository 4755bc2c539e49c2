package pick

import (
	"os"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A Meeting is the facts about all events that the first of a trace show.
type Meeting struct {
	sel        *Selector
	T          *trace.Trace
	Several    bool // files
	Glance     bool // it is of files that were not read to the end before
	Descs      []*etw.EventDesc
	Processor  bool // some event has one
	Operations bool // some event is of a class or provider that has operations of files
	Width      int  // of the longest title of an event
	Brief      int  // of the longest brief title
	Processes  map[int64]bool
	Names      *Names
	known      []bool // by the index of the event
	Nameless   bool   // an event was met of which the begin of the trace says nothing
	Kernel     bool   // events of the kernel were met, beside those of the session
}

func NewMeeting(sel *Selector, t *trace.Trace) *Meeting {
	return &Meeting{sel: sel, T: t, Names: Foresee(), Several: len(t.Files()) > 1, Processes: make(map[int64]bool)}
}

// Meet takes note of a record, if filters of its header let it through.
func (m *Meeting) Meet(r *etw.Record) {
	m.Several = m.Several || r.File != "" && len(m.T.Files()) == 1 && m.isOther(r.File)
	e := m.sel.Decoder.Event(r)
	m.Names.Learn(m.sel.Decoder, r, e)
	m.Kernel = m.Kernel || builtin.IsKernel(r) && r.Provider != sessionClass
	if m.sel.Given && m.sel.Header.Judge(r, e, m.T.Elapsed(r)) != filter.Take {
		return
	}
	m.Processor = m.Processor || r.Processor >= 0
	m.Operations = m.Operations || isOperation(r.Provider)
	m.Processes[r.ProcessID] = true
	for e.Index >= len(m.known) {
		m.known = append(m.known, false)
	}
	if m.known[e.Index] {
		return
	}
	m.known[e.Index] = true
	if m.Glance && e.Desc == nil && r.Kind == etw.KindManifest {
		m.Nameless = true
		m.Width = max(m.Width, StreamName)
		return
	}
	m.Width = max(m.Width, show.TextWidth(EventTitle(e)))
	m.Brief = max(m.Brief, show.TextWidth(BriefTitle(e)))
	if e.Desc != nil {
		m.Descs = append(m.Descs, e.Desc)
	}
}

// isOther reports whether a file that is read as one with others is meant.
func (m *Meeting) isOther(file string) bool { return m.T.Files()[0].Name() != file }

var sessionClass = (*kernel.AnyEventTraceHeader)(nil).EventDescs()[0].Class

// LookLimit returns how many events may be looked at before the first is printed. Of a
// stream that is only the part that has come.
func LookLimit(paths []string) int {
	for _, path := range paths {
		if info, err := os.Stat(path); path == trace.Stdin || err != nil || !info.Mode().IsRegular() {
			return 1
		}
	}
	return AheadEvents
}

// EventTitle returns the names of the provider and the event, as one line.
func EventTitle(e *etw.EventInfo) string {
	if strings.HasPrefix(e.Name, e.Provider+"/") {
		return cli.Clean(e.Name) // that of the provider is in it
	}
	return cli.Clean(e.Provider + "/" + e.Name)
}

// BriefTitle is the title with the alias of the provider, if it has one: where there is
// little room, it says more than the rest of the name.
func BriefTitle(e *etw.EventInfo) string {
	for _, b := range builtin.Providers {
		if b.Desc.Name == e.Provider {
			return cli.Clean(b.Alias + "/" + e.Name)
		}
	}
	return EventTitle(e)
}

// Resolve completes the parts of the filters that depend on the trace.
func (s *Selector) Resolve(t *trace.Trace) {
	s.Header.From.Resolve(t.Start())
	s.Header.To.Resolve(t.Start())
}

// CheckNames checks that there are fields of the given names.
func (s *Selector) CheckNames(flag string, names []string, met []*etw.EventDesc, whole bool) error {
	descs := s.Candidates(met, whole)
	for _, name := range names {
		if len(filter.FindField(descs, []string{name})) > 0 || !whole && len(descs) == 0 {
			continue
		}
		known := filter.FieldNames(descs)
		return cli.Usagef("%s: %s", flag, ExplainField(&filter.UnknownField{Name: name, Known: known}))
	}
	return nil
}

// Widths of columns.
const (
	TimeWidth  = 12
	DateWidth  = 27
	IdWidth    = 8
	FileWidth  = 18
	LeastOwner = 12
	MostOwner  = 24

	NarrowLine  = 100 // on a terminal that is not as wide
	NarrowOwner = 16
	LeastName   = 24
	MostName    = 64
	StreamName  = 40 // where nothing is known of what will come
)
