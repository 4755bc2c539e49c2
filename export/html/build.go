package html

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/internal/order"
)

// Write writes the report as a page. It fails if a call tree is invalid.
func (r *Report) Write(w io.Writer) error {
	m, err := newModel(r)
	if err != nil {
		return err
	}
	p := &page{title: clean(r.Title), kind: "report",
		styles:  []string{"uPlot.min.css", "base.css", "parts.css", "report.css", "flame.css"},
		scripts: []string{plotting, "base.js", "table.js", "chart.js", "tracks.js", "flame.js", "report.js"},
		data:    m}
	p.lines = append(p.lines, m.Warnings...)
	for _, v := range m.Views {
		for _, f := range v.Findings {
			p.lines = append(p.lines, v.Label+": "+f.Text)
		}
	}
	return p.write(w)
}

func newSubjects(res *analysis.Result, profiles []Profile) []*subject {
	s := &subjects{byKey: make(map[key]*subject)}
	for _, r := range res.Runtimes.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).info = r
	}
	for _, r := range res.GC.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).gc = r
	}
	for _, r := range res.Alloc.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).alloc = r
	}
	for _, r := range res.JIT.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).jit = r
	}
	for _, r := range res.Exceptions.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).exceptions = r
	}
	for _, r := range res.Contention.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).contention = r
	}
	for _, r := range res.Waits.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).waits = r
	}
	for _, r := range res.ThreadPool.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).threadpool = r
	}
	for _, r := range res.Loader.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).loader = r
	}
	for _, r := range res.Handles.Runtimes {
		s.of(r.PID, r.CLRInstance, r.Life).handles = r
	}
	for _, r := range res.Heap.Snapshots {
		x := s.of(r.PID, r.CLRInstance, r.Life)
		x.heap = append(x.heap, r)
	}
	for _, p := range res.Requests.Processes {
		s.ofProcess(p.PID, p.Life).requests = p
	}
	for i := range res.Counters.Processes {
		p := &res.Counters.Processes[i]
		s.ofProcess(p.PID, p.Life).counters = p
	}
	most := 0
	for _, p := range profiles {
		most = max(most, p.Samples)
		x := s.ofMachine(p.PID, p.Life, p.Several, p.Name)
		x.profiles = append(x.profiles, p.Flame)
	}
	s.addLanes(res.Timeline)
	runtimes := make(map[key]int) // by process
	for _, x := range s.list {
		runtimes[key{pid: x.pid, life: x.life, machine: x.machine}]++
	}
	for _, x := range s.list {
		x.most = most
		x.several = runtimes[key{pid: x.pid, life: x.life, machine: x.machine}] > 1
	}
	return s.list
}

// maxViews is how many runtimes a page has: those of which the trace has most.
const maxViews = 200

// newModel makes the model of a report.
func newModel(r *Report) (*model, error) {
	m := &model{Title: clean(r.Title), Head: clean(r.Head), Facts: [][2]string{}, Warnings: []string{}, Views: []*view{}, Missing: []advice{}, Texts: newTexts()}
	for _, f := range r.Facts {
		m.Facts = append(m.Facts, [2]string{clean(f.Name), clean(f.Text)})
	}
	own := r.Result.Requests.Warnings() // which stand at the requests of their processes
	for _, text := range slices.Concat(r.Warnings, r.Result.Warnings) {
		if slices.Contains(own, text) {
			continue
		}
		m.Warnings = append(m.Warnings, clean(text))
	}
	present := make(map[string]bool)
	for _, s := range newSubjects(r.Result, r.Profiles) {
		if s.process.Name == "" {
			s.process = r.Processes[s.pid]
		}
		v, err := newView(s, m.Texts)
		if err != nil {
			return nil, err
		}
		for _, sec := range v.Sections {
			present[sec.ID] = true
		}
		m.Views = append(m.Views, v)
	}
	order.Stable(m.Views, func(a, b *view) int { return cmp.Compare(b.weight, a.weight) })
	var missing []advice
	dotnet := r.Machine == nil && !r.Windows || slices.ContainsFunc(m.Views, func(v *view) bool { return v.subject.managed() })
	switch {
	case r.Machine != nil:
		var v *view
		v, missing = newMachine(r, m.Texts)
		m.Views = append([]*view{v}, m.Views...)
	case !dotnet:
		missing = r.adviseAll()
	}
	if n := len(m.Views) - maxViews; n > 0 {
		m.Views = m.Views[:maxViews]
		m.Warnings = append(m.Warnings, "of "+count(n, "more process", "more processes")+" the trace has less than of those that are shown: they are left out here")
	}
	if len(m.Views) > 1 {
		m.Overview = overview(m.Views, r.Machine, m.Texts)
	}
	m.Missing = append(m.Missing, missing...)
	for _, a := range advices {
		if dotnet && !present[a.Section] {
			m.Missing = append(m.Missing, a.named(r.Windows))
		}
	}
	return m, nil
}

// newView makes the view of a runtime.
func newView(s *subject, t *texts) (*view, error) {
	v := &view{Label: clean(s.label()), Facts: s.facts(), Tiles: []tile{}, Findings: []finding{}, Sections: []*section{}, subject: s}
	addTimeline(v, s)
	addGC(v, s, t)
	if err := addProfiles(v, s, t); err != nil {
		return nil, err
	}
	for _, add := range []func(*view, *subject, *texts){
		addAlloc, addExceptions, addContention, addWaits, addThreadPool, addJIT, addRequests, addCounters, addHeap, addHandles, addLoader,
	} {
		add(v, s, t)
	}
	findings.Sort(v.found)
	for _, f := range v.found {
		v.Findings = append(v.Findings, finding{f.Severity, f.Text, f.Part})
	}
	if slices.ContainsFunc(v.Sections, func(x *section) bool { return x.ID == "requests" }) { // else no number is shown that it is about
		for _, text := range (&requests.Result{Processes: []*requests.Process{s.requests}}).Warnings() {
			_, text, _ = strings.Cut(text, ": ") // behind the process
			v.Findings = append(v.Findings, finding{findings.Note, clean(sentence(text)), "requests"})
		}
	}
	return v, nil
}

// managed reports whether there are events of a .NET runtime.
func (s *subject) managed() bool {
	return s.info != nil || s.gc != nil || s.alloc != nil || s.jit != nil || s.exceptions != nil || s.contention != nil || s.waits != nil ||
		s.threadpool != nil || s.loader != nil || s.handles != nil || s.heap != nil || s.requests != nil || s.counters != nil
}

// label names a runtime in the list of all.
func (s *subject) label() string {
	name := s.process.Name
	if name == "" {
		name = program(s.commandLine())
	}
	label := fmt.Sprintf("%s (%d)", name, s.pid)
	if name == "" {
		label = fmt.Sprintf("Process %d", s.pid)
	}
	if s.life > 0 && !s.machine {
		label += fmt.Sprintf(", process %d with this id", s.life+1)
	}
	if s.several {
		label += fmt.Sprintf(", runtime %d", s.clr)
	}
	return label
}

func (s *subject) commandLine() string {
	if s.info != nil && s.info.CommandLine != "" {
		return s.info.CommandLine
	}
	return s.process.CommandLine
}

// program returns the name of the program of a command line.
func program(line string) string {
	first := line
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		first, _, _ = strings.Cut(quoted, `"`)
	} else {
		first, _, _ = strings.Cut(line, " ")
	}
	base := path.Base(strings.ReplaceAll(first, `\`, "/"))
	if base == "." || base == "/" {
		return ""
	}
	return base
}

// facts returns the facts about a runtime.
func (s *subject) facts() [][2]string {
	list := [][2]string{}
	add := func(name, text string) {
		if text != "" {
			list = append(list, [2]string{name, clean(text)})
		}
	}
	add("process", fmt.Sprint(s.pid))
	add("command line", s.commandLine())
	if i := s.info; i != nil {
		add("runtime", i.Name())
		add("path of the runtime", i.Path)
		if at0, ok := i.StartMS.Get(); ok {
			add("started", measure.At(at0))
		}
		add("startup flags", i.StartupFlags)
	}
	if g := s.gc; g != nil {
		if g.ServerGC != nil {
			add("collector", map[bool]string{true: "server", false: "workstation"}[*g.ServerGC])
		}
		if g.MaxHeaps > 0 {
			add("heaps", fmt.Sprint(g.MaxHeaps))
		}
		if set := g.Settings; set != nil {
			if set.HardLimitBytes > 0 {
				add("hard limit", measure.Size(float64(set.HardLimitBytes)))
			}
			add("large objects from", measure.Size(float64(set.LOHThresholdBytes)))
			add("background collections", map[bool]string{true: "on", false: "off"}[set.Concurrent])
		}
	}
	return list
}

// overview returns the table of all views.
func overview(views []*view, machine *Machine, texts *texts) *table {
	t := &table{ID: "overview", Title: "Processes", Lead: "A click on a process shows it.", texts: texts}
	word(t, views, column{Key: "process", Label: "Process"}, func(v *view) string { return v.Label })
	word(t, views, column{Key: "runtime", Label: "Runtime"}, func(v *view) string {
		if i := v.subject.info; i != nil {
			return i.Name()
		}
		return ""
	})
	if machine != nil {
		machine.overview(t, views)
	}
	pick := func(has func(*subject) bool, value func(*subject) float64) func(*view) float64 {
		return func(v *view) float64 {
			if !has(v.subject) {
				return nan
			}
			return value(v.subject)
		}
	}
	hasGC := func(s *subject) bool { return s.gc != nil }
	num(t, views, column{Key: "gcs", Label: "Collections"}, pick(hasGC, func(s *subject) float64 { return float64(s.gc.Count) }))
	num(t, views, column{Key: "pauseMs", Label: "Paused", Unit: "ms", Digits: 1}, pick(hasGC, func(s *subject) float64 { return s.gc.PauseMS }))
	num(t, views, column{Key: "maxMs", Label: "Longest pause", Unit: "ms", Digits: 1}, pick(hasGC, func(s *subject) float64 { return orNaN(s.gc.All.PauseMS.Max) }))
	num(t, views, column{Key: "maxPeakMB", Label: "Largest heap", Unit: "MB", Digits: 1}, pick(hasGC, func(s *subject) float64 { return orNaN(s.gc.All.MaxPeakMB) }))
	num(t, views, column{Key: "exceptions", Label: "Exceptions"}, pick(func(s *subject) bool { return s.exceptions != nil }, func(s *subject) float64 { return float64(s.exceptions.Throws()) }))
	num(t, views, column{Key: "compiled", Label: "Methods compiled"}, pick(func(s *subject) bool { return s.jit != nil }, func(s *subject) float64 { return float64(s.jit.Count) }))
	return t
}
