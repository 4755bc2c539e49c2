package ship

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/figures"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A side is the recordings of one side.
type side struct {
	paths    []string
	runs     [][]compare.Figure
	per      []float64 // what sums of each recording are set against
	perOf    []string  // which requests these are
	samples  []string  // what the samples of code are, without repetition
	states   []string  // whether they tell managed code from code that it called, without repetition
	told     []bool    // whether each recording has events of the runtime
	none     []string  // why recordings have nothing of what was asked for
	warnings []string
	lost     int64
}

// A comparedRun is one trace.
type comparedRun struct {
	path     string
	figures  []compare.Figure
	per      float64
	perOf    string
	samples  string
	states   string
	told     bool
	served   int64 // requests, and which these are
	servedOf string
	none     string
	warnings []string
	lost     int64
	trouble  error
}

func (s *side) add(r *comparedRun, several bool) {
	s.runs = append(s.runs, r.figures)
	s.per = append(s.per, r.per)
	s.told = append(s.told, r.told)
	s.lost += r.lost
	s.perOf, s.samples, s.states = addNew(s.perOf, r.perOf), addNew(s.samples, r.samples), addNew(s.states, r.states)
	if r.none != "" {
		s.none = append(s.none, r.none)
		r.warnings = append(r.warnings, r.none)
	}
	for _, w := range r.warnings {
		if several {
			w = r.path + ": " + w
		}
		if !slices.Contains(s.warnings, w) {
			s.warnings = append(s.warnings, w)
		}
	}
}

// addNew adds a text to a list, unless it is empty or there.
func addNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// A perUnit is the unit that sums are set against.
type perUnit struct {
	text  string
	event *filter.Event // of which there are so many
	given [2]float64    // numbers of operations, of each side
}

// The units of --per beside events and numbers.
const (
	perSeconds   = "second"
	perRequest   = "request"
	PerOperation = "operation"
)

var pers = []string{perSeconds, perRequest, PerOperation}

func parsePer(text string) (perUnit, error) {
	u := perUnit{text: text}
	if text == "" || slices.Contains(pers, text) {
		return u, nil
	}
	if !isNumbers(text) {
		e := filter.ParseEvent(text)
		u.event = &e
		return u, nil
	}
	a, b, two := strings.Cut(text, ",")
	if !two {
		b = a
	}
	for i, part := range []string{a, b} {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return u, cli.Usagef("--per %s: it is %s, the name of an event, or one or two numbers of operations above 0, such as 500 or 500,750", text, strings.Join(pers, ", "))
		}
		u.given[i] = v
	}
	u.text = PerOperation
	return u, nil
}

// isNumbers reports whether a text is meant as one or two numbers, be they good for
// anything or not.
func isNumbers(text string) bool {
	for part := range strings.SplitSeq(text, ",") {
		if _, err := strconv.ParseFloat(part, 64); err == nil {
			return true
		}
	}
	return strings.Trim(text, "+-0123456789.,") == ""
}

// A sideReader reads one trace of a side.
type sideReader struct {
	c       *comparing
	beside  etw.Mux // of what is asked beside all analyses
	decoder *etw.Decoder
	events  float64 // those that sums are set against, or operations
	told    bool    // there are events of the runtime
	code    *frames.CodeMap
	cpu     func() code.Gathered
	machine func() []compare.Figure
	alloc   *alloc.Analysis
	within  stacks.Query // its time alone
}

// read asks a trace everything.
func (c *comparing) read(cmd *cobra.Command, path string, number int) (*comparedRun, error) {
	h, err := c.scope.Header(cmd, &c.in, []string{path})
	if err != nil {
		return nil, err
	}
	c.in.Profiles = true
	t, trouble, err := c.in.Open(cmd, []string{path}, false)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if len(t.Profiles()) > 0 {
		return c.readProfile(cmd, t, path, number)
	}
	files, err := c.symbols.Open(cmd)
	if err != nil {
		return nil, err
	}
	var mux etw.Mux
	s := &sideReader{c: c, decoder: builtin.NewDecoder(), code: frames.NewCodeMap(files),
		within: stacks.Query{From: h.From.In(t.Start()), To: h.To.In(t.Start())}}
	set := analysis.NewWithin(&mux, s.within.From, s.within.To)
	s.machine = s.machineOf(t, h)
	var skip func(*etw.Record)
	s.cpu, skip = code.Start(samples.Find("cpu"), &s.beside, t, h)
	i := &pick.Inquiry{Cmd: cmd, Mux: &mux, Names: pick.NewNames(), Also: &s.code.Mux, Rest: set.Skip, Beyond: s.beyond(set), Asked: h.Processes, CutText: code.Clipped, Skip: skip}
	if c.below != nil {
		s.alloc = alloc.New(&s.beside)
		if i.Source, err = frames.BindStacks(cmd, &c.in, t, []string{path}); err != nil {
			return nil, err
		}
	}
	seen := need.Follow(analysis.Needs)
	i.All = func(r *etw.Record, _ *etw.EventInfo) { seen.See(r) }
	counts := c.unit.event != nil || c.unit.text == PerOperation && c.unit.given[number] == 0
	i.Each = func(r *etw.Record, e *etw.EventInfo) {
		s.see(r)
		if counts {
			s.count(r, e)
		}
	}
	if err := i.Read(t, h); err != nil {
		trouble = cmp.Or(trouble, err)
	}
	pick.TellLacks(&s.beside, t, i.Trouble)
	c.out.About.Of(t, false)
	c.out.About.ReadTo(trouble)
	c.out.About.Tell(analysis.Needs, seen)
	if show.ReportLosses(cmd, t) {
		trouble = cmp.Or(trouble, cli.ErrReported)
	}
	frames.ReportFaults(cmd, files)
	res := set.Result()
	r := &comparedRun{path: path, warnings: slices.Concat(c.partial(), i.Warnings(t), res.Warnings), lost: t.Stats().Lost, trouble: trouble, per: 1}
	span := i.Span.Cut(h, etw.FileTimeOf(t.Start()))
	if r.none = span.WhyNone(&c.scope); r.none != "" {
		return r, nil
	}
	length := i.Span.Within(h, t)
	r.figures, r.samples, r.states = s.figures(res, length)
	r.told = s.told
	served, of := servedBy(res.Requests)
	r.served, r.servedOf = int64(served), of
	r.per, r.perOf, err = s.per(res.Requests, length.Seconds(), path, number)
	if err != nil {
		return nil, err
	}
	r.figures = compare.Per(r.figures, r.per)
	return r, nil
}

// partial says that the trace that is read is a part of another one, if it is.
func (c *comparing) partial() []string {
	if c.scope.Part == nil {
		return nil
	}
	return []string{fmt.Sprintf("it is a part of another trace, %s: the rest of that is not known, and counts as 0 here", c.scope.Part)}
}

// see looks at a record.
func (s *sideReader) see(r *etw.Record) { s.told = s.told || r.Provider == clr.Provider.Desc.GUID }

// beyond returns what takes the records of all times.
func (s *sideReader) beyond(set *analysis.Set) func(*etw.Record, bool) error {
	return func(r *etw.Record, counts bool) (err error) {
		if counts {
			err = s.beside.Dispatch(r)
		}
		return errors.Join(err, set.Wide(r, counts))
	}
}

// count counts the events that sums are set against, or the operations of BenchmarkDotNet.
func (s *sideReader) count(r *etw.Record, e *etw.EventInfo) {
	switch u := &s.c.unit; {
	case u.event == nil:
		s.events += operations(r, e)
	case u.event.Match(r, e):
		s.events++
	}
}

// operations returns how often the workload is called between an event of BenchmarkDotNet
// and the one that ends it: of whatever stage, since all are among the samples.
func operations(r *etw.Record, e *etw.EventInfo) float64 {
	if e.Provider != "BenchmarkDotNet.EngineEventSource" || !strings.HasPrefix(e.Name, "Workload") || !strings.HasSuffix(e.Name, "Start") || len(r.Payload) < 8 {
		return 0
	}
	return float64(binary.LittleEndian.Uint64(r.Payload))
}

// figures returns the numbers of a trace, and the kind of samples behind times of code and of their states.
func (s *sideReader) figures(res *analysis.Result, length time.Duration) (list []compare.Figure, samples, states string) {
	options := stacks.Options{Names: stacks.QualifiedNames, Native: s.code.Native}
	named := func(list ...*stacks.Samples) *stacks.Profile {
		p := code.Within(stacks.NewProfile(s.code.Code.Table(), options, list...), s.within)
		if s.c.below != nil {
			p = p.Below(s.c.below)
		}
		return p
	}
	if s.c.below == nil {
		list = append(append(figures.Of(res), figures.Duration(length)), s.machine()...)
	} else {
		list = figures.Allocated(named(s.alloc.Samples()...))
	}
	p := named(s.cpu().Samples...)
	if p.Len() > 0 {
		samples = fmt.Sprintf("%s in %s", p.Kind, p.Types[len(p.Types)-1].Unit)
	}
	if p.Kind == cpu.ThreadTime {
		states = "told"
		for x := range p.Samples() {
			if slices.ContainsFunc(x.Labels, func(l stacks.Label) bool { return l.Value == cpu.Untold }) {
				states = cpu.Untold
				break
			}
		}
	}
	return append(list, figures.Code(p, s.c.rules)...), samples, states
}

// per returns the counts that sums are set against, and which requests these are.
func (s *sideReader) per(r *requests.Result, seconds float64, path string, number int) (n float64, of string, err error) {
	u := &s.c.unit
	none := ""
	n = 1
	switch {
	case u.given[number] > 0:
		n = u.given[number]
	case u.event != nil:
		n, none = s.events, "has no such event"
	case u.text == PerOperation:
		n, none = s.events, "does not tell how many there were, as BenchmarkDotNet.EngineEventSource does; give the numbers, as in --per 500,750"
	case u.text == perSeconds:
		n, none = seconds, "has no time between its start and its last event"
	case u.text == perRequest:
		var served int
		served, of = servedBy(r)
		n, none = float64(served), "has no requests that ended"+otherTasks(r)
	}
	if n <= 0 {
		return 0, "", cli.Usagef("--per %s: %s %s", u.text, path, none)
	}
	return n, of, nil
}

// servers are the tasks that are requests served, or made where none are: those of the
// first source that has any count.
var servers = []struct{ provider, task string }{
	{"Microsoft.AspNetCore.Hosting", "Request"},
	{"Microsoft.AspNetCore", "HttpRequestIn"},
	{diagnosticSource, "HttpRequestIn"},
	{"Microsoft-AspNetCore-Server-Kestrel", "Request"},
	{"IIS", ""},
	{"ASP.NET", ""},
	{"Microsoft-Windows-HttpService", ""},
	{"System.Net.Http", "Request"},
	{diagnosticSource, "HttpRequestOut"},
	{"", "Request"}, // a program's own
}

// diagnosticSource is the name of the EventSource that passes on activities.
const diagnosticSource = "Microsoft-Diagnostics-DiagnosticSource"

// servedBy counts the requests of a trace, and says which tasks these are.
func servedBy(r *requests.Result) (n int, of string) {
	for _, x := range servers {
		var names []string
		for _, p := range r.Processes {
			for _, t := range p.Tasks {
				if strings.HasPrefix(t.Provider, x.provider) && (x.task == "" || strings.HasSuffix(t.Task, x.task)) {
					n += t.Count
					names = addNew(names, t.Provider+"/"+t.Task)
				}
			}
		}
		if n > 0 {
			return n, strings.Join(names, ", ")
		}
	}
	return 0, ""
}

// otherTasks says which activities there are that are not known as requests.
func otherTasks(r *requests.Result) string {
	var names []string
	for _, p := range r.Processes {
		for _, t := range p.Tasks {
			if t.Count > 0 {
				names = addNew(names, t.Provider+"/"+t.Task)
			}
		}
	}
	if len(names) == 0 {
		return "; see etw requests"
	}
	return fmt.Sprintf(" and are known as such; the activities are %s, and --per takes the event that ends one", pick.Listed(names))
}

// perText names the unit that sums were set against.
func (s *side) perText() string {
	if len(s.perOf) > 0 {
		return s.perRange() + " of " + strings.Join(s.perOf, ", ")
	}
	return s.perRange()
}

func (s *side) perRange() string {
	least, most := math.Inf(1), 0.0
	for _, v := range s.per {
		least, most = min(least, v), max(most, v)
	}
	if least == most {
		return look.PlainFloat(least)
	}
	return fmt.Sprintf("%s to %s", look.PlainFloat(least), look.PlainFloat(most))
}
