// Package firefox writes profiles as the files that https://profiler.firefox.com opens: the
// samples of each thread in time, other events as markers, with the call stack that caused
// it, and counters. Use it to look at code and time together in a browser.
//
// Samples come from [stacks.NewProfile]; events without a call stack are those that package
// chrometrace collects of the analyses.
package firefox

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/chrometrace"
	"github.com/etwgen/etwgen/internal/order"
)

// version is that of the form of the files. Newer viewers read older ones.
const version = 66

// A Profile is the contents of a file.
type Profile struct {
	Product string // what the profile is called
	// Start is when it began, in nanoseconds since 1970, and Interval the time between two
	// samples in nanoseconds, 0 if it is not known.
	Start, Interval int64
	Samples         *stacks.Profile
	// Caused are things that happened in code: each sample is a marker with its stack.
	Caused []*stacks.Profile
	// Happened has the events without a stack: its spans and marks are markers, too.
	Happened *chrometrace.Trace
	// Process and Thread return names.
	Process, Thread func(id int64) string
}

// IsEmpty reports whether nothing is shown.
func (p *Profile) IsEmpty() bool {
	has := func(s *stacks.Profile) bool { return s != nil && s.Len() > 0 }
	return !has(p.Samples) && !slices.ContainsFunc(p.Caused, has) && (p.Happened == nil || p.Happened.IsEmpty())
}

// Categories of frames and markers, by their place in the file.
const (
	other = iota
	managed
	native
	waiting
	runtimeWork
	activity
)

var categories = []struct{ name, color string }{
	other: {"Other", "grey"}, managed: {".NET", "blue"}, native: {"Native code", "orange"},
	waiting: {"Waiting", "transparent"}, runtimeWork: {"Runtime", "purple"}, activity: {"Activity", "green"},
}

// Write writes the profile. Names that several frames have are written once.
func (p *Profile) Write(w io.Writer) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16), p: p, texts: make(map[string]int), list: []string{}}
	e.collect()
	e.meta()
	e.text(`,"libs":[],"pages":[],"profilerOverhead":[],"counters":[`)
	e.counters()
	e.text("],\n\"threads\":[")
	for i, t := range e.threads {
		if i > 0 {
			e.text(",\n")
		}
		e.thread(i, t)
	}
	e.text("],\n\"shared\":{")
	e.shared()
	e.text("}}\n")
	return e.w.Flush()
}

// A thread has the contents of one track.
type thread struct {
	process, id int64
	samples     []stacks.Sample
	markers     []marker
	weight      int64
}

// A marker is something that happened.
type marker struct {
	kind     string // its schema
	name     string
	category int
	from, to int64 // since the start
	data     []chrometrace.Arg
	stack    int // of the file, from 1 on; 0 if there is none
}

type encoder struct {
	w       *bufio.Writer
	p       *Profile
	texts   map[string]int
	list    []string
	threads []*thread
	bases   []int // of the stacks of Samples and of each of Caused in the file
	kinds   []string
}

// text writes a text. An error stays in the writer, whose Flush returns it.
func (e *encoder) text(s string) { e.w.WriteString(s) }

func (e *encoder) json(v any) {
	b, _ := json.Marshal(v) // no error: these are strings
	e.w.Write(b)
}

// string returns the number of a text.
func (e *encoder) string(s string) int {
	s = strings.ToValidUTF8(s, "\uFFFD")
	i, ok := e.texts[s]
	if !ok {
		i = len(e.list)
		e.texts[s], e.list = i, append(e.list, s)
	}
	return i
}

// milliseconds is a time in nanoseconds without loss.
func milliseconds(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	text := strconv.FormatInt(ns/1e6, 10)
	if rest := ns % 1e6; rest != 0 {
		text += strings.TrimRight("."+strconv.FormatInt(1e6+rest, 10)[1:], "0")
	}
	return sign + text
}

// column writes an array of as many values.
func (e *encoder) column(name string, n int, value func(i int) string) {
	e.text(`"` + name + `":[`)
	for i := range n {
		if i > 0 {
			e.text(",")
		}
		e.text(value(i))
	}
	e.text("]")
}

// same is a column of equal values.
func (e *encoder) same(name string, n int, value string) {
	e.column(name, n, func(int) string { return value })
	e.text(",")
}

// collect brings everything to the thread that it is of.
func (e *encoder) collect() {
	type key struct{ process, id int64 }
	index := make(map[key]*thread)
	of := func(process, id int64) *thread {
		t := index[key{process, id}]
		if t == nil {
			t = &thread{process: process, id: id}
			index[key{process, id}], e.threads = t, append(e.threads, t)
		}
		return t
	}
	base := 0
	for i, p := range append([]*stacks.Profile{e.p.Samples}, e.p.Caused...) {
		e.bases = append(e.bases, base)
		if p == nil {
			continue
		}
		for s := range p.Samples() {
			t, last := of(s.Process, s.Thread), len(s.Values)-1
			if i == 0 {
				s.Labels, s.Values = nil, slices.Clone(s.Values[last:])
				t.samples, t.weight = append(t.samples, s), t.weight+s.Values[0]
				continue
			}
			t.markers = append(t.markers, e.caused(p, s, base))
		}
		base += p.Stacks() - 1
	}
	if h := e.p.Happened; h != nil {
		for i := range h.Spans {
			x := &h.Spans[i]
			t := of(x.Process, x.Thread)
			t.markers = append(t.markers, happened(x.Name, x.Category, x.From, x.From+max(x.Length, 0), x.Args))
			for k := range x.Parts {
				y := &x.Parts[k]
				t.markers = append(t.markers, happened(y.Name, "part of "+x.Category, y.From, y.From+max(y.Length, 0), y.Args))
			}
		}
		for i := range h.Marks {
			x := &h.Marks[i]
			t := of(x.Process, x.Thread)
			t.markers = append(t.markers, happened(x.Name, x.Category, x.At, x.At, x.Args))
		}
		for i := range h.Counters { // which are those of a process, and need a thread of it
			e.firstThread(h.Counters[i].Process, of)
		}
	}
	if len(e.threads) == 0 {
		of(0, 0)
	}
	order.Stable(e.threads, func(a, b *thread) int { return cmp.Or(cmp.Compare(b.weight, a.weight)) })
	for _, t := range e.threads {
		order.Stable(t.samples, func(a, b stacks.Sample) int { return cmp.Compare(a.Time, b.Time) })
		order.Stable(t.markers, func(a, b marker) int { return cmp.Compare(a.from, b.from) })
		for i := range t.markers {
			if kind := t.markers[i].kind; !slices.Contains(e.kinds, kind) {
				e.kinds = append(e.kinds, kind)
			}
		}
	}
}

// firstThread makes a thread of a process, unless there is one.
func (e *encoder) firstThread(process int64, of func(process, id int64) *thread) {
	if !slices.ContainsFunc(e.threads, func(t *thread) bool { return t.process == process }) {
		of(process, 0)
	}
}

// caused returns the marker of a sample.
func (e *encoder) caused(p *stacks.Profile, s stacks.Sample, base int) marker {
	m := marker{kind: p.Kind, name: p.Kind, category: runtimeWork, from: s.Time - e.p.Start, to: s.Time - e.p.Start}
	if s.Stack != 0 {
		m.stack = base + int(s.Stack)
	}
	last := len(s.Values) - 1
	if p.Types[last].Unit == "nanoseconds" {
		m.to = m.from + s.Values[last]
	} else if last > 0 {
		m.data = append(m.data, chrometrace.Arg{Name: p.Types[last].Name, Text: strconv.FormatInt(s.Values[last], 10)})
	}
	for _, l := range s.Labels {
		if l.Key == "type" || l.Key == "source" { // as chrometrace has it
			m.name += " " + l.Value
		}
		m.data = append(m.data, chrometrace.Arg{Name: l.Key, Text: l.Value})
	}
	return m
}

func happened(name, kind string, from, to int64, data []chrometrace.Arg) marker {
	m := marker{kind: kind, name: name, category: activity, from: from, to: to, data: data}
	if kind == "gc" || kind == "jit" {
		m.category = runtimeWork
	}
	return m
}

// meta writes the head.
func (e *encoder) meta() {
	e.text(`{"meta":{"version":24,"preprocessedProfileVersion":` + strconv.Itoa(version) + `,"processType":0,"stackwalk":1,"debug":false,"symbolicated":true,"product":`)
	e.json(e.p.Product)
	e.text(`,"startTime":` + milliseconds(e.p.Start) + `,"interval":` + milliseconds(max(e.p.Interval, 1)) + `,"categories":[`)
	for i, c := range categories {
		e.text(",{"[min(1, max(0, 1-i)):] + `"name":`)
		e.json(c.name)
		e.text(`,"color":"` + c.color + `","subcategories":["Other"]}`)
	}
	e.text(`],"extensions":{"baseURL":[],"id":[],"name":[],"length":0},"sampleUnits":{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"},"markerSchema":[`)
	for i, kind := range e.kinds {
		e.text(",{"[min(1, max(0, 1-i)):] + `"name":`)
		e.json(kind)
		e.text(`,"display":["marker-chart","marker-table","timeline-overview"],"tableLabel":"{marker.name}","fields":[`)
		for k, name := range e.fields(kind) {
			e.text(",{"[min(1, max(0, 1-k)):] + `"key":`)
			e.json(name)
			e.text(`,"label":`)
			e.json(name)
			e.text(`,"format":"string"}`)
		}
		e.text("]}")
	}
	e.text("]}")
}

// fields returns the names of the fields of a kind of markers.
func (e *encoder) fields(kind string) (names []string) {
	for _, t := range e.threads {
		for i := range t.markers {
			if t.markers[i].kind != kind {
				continue
			}
			for _, a := range t.markers[i].data {
				if !slices.Contains(names, a.Name) {
					names = append(names, a.Name)
				}
			}
		}
	}
	return names
}

// thread writes a thread with its samples and markers.
func (e *encoder) thread(i int, t *thread) {
	first := !slices.ContainsFunc(e.threads[:i], func(x *thread) bool { return x.process == t.process })
	e.text(`{"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,"pausedRanges":[],"name":`)
	e.json(e.nameOf(t))
	e.text(`,"isMainThread":` + strconv.FormatBool(first) + `,"processName":`)
	e.json(e.p.Process(t.process))
	e.text(`,"pid":"` + strconv.FormatInt(t.process, 10) + `","tid":` + strconv.FormatInt(t.id, 10) + ",\n" + `"samples":{`)
	n, unit := len(t.samples), ""
	if n > 0 {
		unit = e.p.Samples.Types[len(e.p.Samples.Types)-1].Unit
	}
	e.column("stack", n, func(i int) string {
		if s := t.samples[i].Stack; s != 0 {
			return strconv.Itoa(e.bases[0] + int(s) - 1)
		}
		return "null"
	})
	e.text(",")
	// Samples without times follow each other.
	times, next := make([]int64, n), int64(0)
	for i := range t.samples {
		if times[i] = t.samples[i].Time - e.p.Start; e.p.Start == 0 && t.samples[i].Time == 0 {
			times[i] = next
		}
		if unit == "nanoseconds" {
			next += t.samples[i].Values[0]
		}
	}
	e.column("time", n, func(i int) string { return milliseconds(times[i]) })
	e.text(",")
	weightType := "samples"
	switch unit {
	case "nanoseconds":
		weightType = "tracing-ms"
	case "bytes":
		weightType = "bytes"
	}
	e.column("weight", n, func(i int) string {
		if weightType == "tracing-ms" {
			return milliseconds(t.samples[i].Values[0])
		}
		return strconv.FormatInt(t.samples[i].Values[0], 10)
	})
	e.text(`,"weightType":"` + weightType + `","length":` + strconv.Itoa(n) + "},\n" + `"markers":{`)
	e.markers(t.markers)
	e.text("}}")
}

// nameOf returns the name of a thread: of events without one, the one it has in Happened.
func (e *encoder) nameOf(t *thread) string {
	if e.p.Happened != nil && t.id == 0 {
		for _, x := range e.p.Happened.Threads {
			if x.Process == t.process && x.ID == t.id {
				return x.Name
			}
		}
	}
	if t.id == 0 {
		return "of the process"
	}
	return e.p.Thread(t.id)
}

func (e *encoder) markers(list []marker) {
	n := len(list)
	e.column("name", n, func(i int) string { return strconv.Itoa(e.string(list[i].name)) })
	e.text(",")
	e.column("startTime", n, func(i int) string { return milliseconds(list[i].from) })
	e.text(",")
	e.column("endTime", n, func(i int) string {
		if list[i].to == list[i].from {
			return "null"
		}
		return milliseconds(list[i].to)
	})
	e.text(",")
	e.column("phase", n, func(i int) string {
		if list[i].to == list[i].from {
			return "0"
		}
		return "1"
	})
	e.text(",")
	e.column("category", n, func(i int) string { return strconv.Itoa(list[i].category) })
	e.text(`,"data":[`)
	for i := range list {
		m := &list[i]
		if i > 0 {
			e.text(",")
		}
		e.text(`{"type":`)
		e.json(m.kind)
		for _, a := range m.data {
			if a.Name != "type" && a.Name != "cause" { // which mean something else here
				e.text(",")
				e.json(a.Name)
				e.text(":")
				e.json(strings.ToValidUTF8(a.Text, "\uFFFD"))
			}
		}
		if m.stack != 0 {
			e.text(`,"cause":{"time":` + milliseconds(m.from) + `,"stack":` + strconv.Itoa(m.stack-1) + "}")
		}
		e.text("}")
	}
	e.text(`],"length":` + strconv.Itoa(n))
}

// categoryOf returns the category of a frame.
func categoryOf(f *stacks.Frame) int {
	switch {
	case f.Waiting:
		return waiting
	case f.Kind == symbols.Managed:
		return managed
	case f.Kind == symbols.NativeCode:
		return native
	}
	return other
}

// finite is a number that JSON can have.
func finite(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
