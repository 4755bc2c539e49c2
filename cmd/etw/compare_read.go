package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A side is the recordings of one side.
type side struct {
	paths    []string
	runs     [][]compare.Figure
	per      []float64 // what sums of each recording are set against
	warnings []string
	lost     int64
}

// A comparedRun is one trace.
type comparedRun struct {
	path     string
	figures  []compare.Figure
	per      float64
	warnings []string
	lost     int64
	trouble  error
}

func (s *side) add(r *comparedRun, several bool) {
	s.runs = append(s.runs, r.figures)
	s.per = append(s.per, r.per)
	s.lost += r.lost
	for _, w := range r.warnings {
		if several {
			w = r.path + ": " + w
		}
		if !slices.Contains(s.warnings, w) {
			s.warnings = append(s.warnings, w)
		}
	}
}

// A perUnit is what sums are set against.
type perUnit struct {
	text  string
	event *filter.Event // of which there are so many
	given [2]float64    // numbers of operations, of each side
}

// What --per knows beside events and numbers.
const (
	perSeconds   = "second"
	perRequest   = "request"
	perOperation = "operation"
)

var pers = []string{perSeconds, perRequest, perOperation}

func parsePer(text string) (perUnit, error) {
	u := perUnit{text: text}
	if text == "" || slices.Contains(pers, text) {
		return u, nil
	}
	if strings.Trim(text, "0123456789.,") != "" {
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
		if err != nil || v <= 0 {
			return u, usagef("--per %s: it is %s, the name of an event, or one or two numbers of operations above 0, such as 500 or 500,750", text, strings.Join(pers, ", "))
		}
		u.given[i] = v
	}
	u.text = perOperation
	return u, nil
}

// A sideReader reads one trace of a side.
type sideReader struct {
	c       *comparing
	beside  etw.Mux // of what is asked beside all analyses
	decoder *etw.Decoder
	events  float64 // those that sums are set against, or operations
	code    *codeMap
	cpu     func() gathered
	alloc   *alloc.Analysis
}

// read asks a trace everything.
func (c *comparing) read(cmd *cobra.Command, path string, number int) (*comparedRun, error) {
	h, err := c.scope.header(cmd, &c.in, []string{path})
	if err != nil {
		return nil, err
	}
	t, trouble, err := c.in.open(cmd, []string{path}, false)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	files, err := c.symbols.open(cmd)
	if err != nil {
		return nil, err
	}
	var mux etw.Mux
	set := analysis.New(&mux)
	s := &sideReader{c: c, decoder: builtin.NewDecoder(), code: newCodeMap(files)}
	s.cpu = startCPU(&s.beside, t)
	i := &inquiry{cmd: cmd, mux: &mux, names: newNames(), also: &s.code.mux, more: &s.beside}
	if c.below != nil {
		s.alloc = alloc.New(&s.beside)
		if i.source, err = c.in.bindStacks(cmd, t, []string{path}); err != nil {
			return nil, err
		}
	}
	if c.unit.event != nil || c.unit.text == perOperation && c.unit.given[number] == 0 {
		i.each = s.count
	}
	if err := i.read(t, h); err != nil {
		trouble = cmp.Or(trouble, err)
	}
	c.out.about.of(t, false)
	c.out.about.readTo(trouble)
	if reportLosses(cmd, t) {
		trouble = cmp.Or(trouble, errReported)
	}
	reportFaults(cmd, files)
	res := set.Result()
	r := &comparedRun{path: path, warnings: i.warnings(t), lost: t.Stats().Lost, trouble: trouble, per: 1}
	for _, w := range res.Warnings {
		if !slices.Contains(r.warnings, w) {
			r.warnings = append(r.warnings, w)
		}
	}
	seconds := i.span.within().Seconds()
	f := s.figures(res, seconds)
	r.per, err = s.per(res.Requests, seconds, path, number)
	if err != nil {
		return nil, err
	}
	r.figures = f.divided(r.per)
	return r, nil
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

// figures returns the numbers of a trace.
func (s *sideReader) figures(res *analysis.Result, seconds float64) *figures {
	f := new(figures)
	options := stacks.Options{Names: stacks.QualifiedNames, Native: s.code.native}
	named := func(list ...*stacks.Samples) *stacks.Profile {
		p := stacks.NewProfile(s.code.code.Table(), options, list...)
		if s.c.below != nil {
			p = p.Below(s.c.below)
		}
		return p
	}
	if s.c.below == nil {
		f = figuresOf(res)
		f.level("trace", "trace.durationMs", "durationMs", seconds*1e3, 0)
		f.varies()
	} else {
		f.allocated(named(s.alloc.Samples()...))
	}
	f.code(named(s.cpu().samples...), s.c.rules)
	return f
}

// per returns what sums are set against.
func (s *sideReader) per(r *requests.Result, seconds float64, path string, number int) (float64, error) {
	u := &s.c.unit
	n, none := 1.0, ""
	switch {
	case u.given[number] > 0:
		n = u.given[number]
	case u.event != nil:
		n, none = s.events, "has no such event"
	case u.text == perOperation:
		n, none = s.events, "does not tell how many there were, as BenchmarkDotNet.EngineEventSource does; give the numbers, as in --per 500,750"
	case u.text == perSeconds:
		n, none = seconds, "has no two events at different times"
	case u.text == perRequest:
		n, none = float64(servedBy(r)), "has no requests that ended; see etw requests"
	}
	if n <= 0 {
		return 0, usagef("--per %s: %s %s", u.text, path, none)
	}
	return n, nil
}

// servers are the tasks that are requests served, or made where none are: those of the
// first source that has any count.
var servers = []struct{ provider, task string }{
	{"Microsoft.AspNetCore.Hosting", "Request"},
	{"Microsoft.AspNetCore", "HttpRequestIn"},
	{"Microsoft-AspNetCore-Server-Kestrel", "Request"},
	{"IIS", ""},
	{"ASP.NET", ""},
	{"Microsoft-Windows-HttpService", ""},
	{"System.Net.Http", "Request"},
}

// servedBy counts the requests of a trace.
func servedBy(r *requests.Result) int {
	for _, x := range servers {
		n := 0
		for _, p := range r.Processes {
			for _, t := range p.Tasks {
				if strings.HasPrefix(t.Provider, x.provider) && (x.task == "" || strings.HasSuffix(t.Task, x.task)) {
					n += t.Count
				}
			}
		}
		if n > 0 {
			return n
		}
	}
	return 0
}

// divided returns the numbers, those that grow set against n.
func (f *figures) divided(n float64) []compare.Figure {
	list := make([]compare.Figure, len(f.list))
	for i, x := range f.list {
		if list[i] = x.Figure; x.grows {
			list[i].Value /= n
			list[i].Noise /= n
			list[i].Alone /= n
		}
	}
	return list
}

// perText says what sums were set against.
func (s *side) perText() string {
	least, most := math.Inf(1), 0.0
	for _, v := range s.per {
		least, most = min(least, v), max(most, v)
	}
	if least == most {
		return plainFloat(least)
	}
	return fmt.Sprintf("%s to %s", plainFloat(least), plainFloat(most))
}
