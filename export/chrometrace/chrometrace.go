// Package chrometrace writes the findings of analyses as the files that
// https://ui.perfetto.dev and chrome://tracing open: events over time, on a track for each
// thread, and how counters went. Use it to look at a trace in time, thread by thread.
package chrometrace

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
)

// A Trace is the contents of a file. Times are nanoseconds since its begin.
type Trace struct {
	Processes []Process
	Threads   []Thread
	Spans     []Span
	Marks     []Mark
	Counters  []Counter
	Calls     []Calls
}

// A Process is a group of tracks. A Thread is one of them.
type Process struct {
	ID   int64
	Name string
}

// A Thread is a track.
type Thread struct {
	Process, ID int64
	Name        string
}

// A Span is something that lasts.
type Span struct {
	Process, Thread int64
	Name, Category  string
	From, Length    int64
	// Apart says that it is not the work of its thread: it has a track of its own in the
	// process.
	Apart bool
	Args  []Arg
	// Parts are the pieces of a span apart, one after the other, on the same track. They
	// need no process, thread or category.
	Parts []Span
}

// A Mark is something at one moment.
type Mark struct {
	Process, Thread int64
	Name, Category  string
	At              int64
	Args            []Arg
}

// A Counter is the values that something has from a moment on.
type Counter struct {
	Process int64
	Name    string
	At      int64
	Values  []Value
}

// An Arg is a fact of a span or mark. Numbers are written as numbers.
type Arg struct{ Name, Text string }

// A Value is one of a counter.
type Value struct {
	Name   string
	Number float64
}

// IsEmpty reports whether nothing happened in the trace.
func (t *Trace) IsEmpty() bool { return len(t.Spans)+len(t.Marks)+len(t.Counters)+len(t.Calls) == 0 }

// Write writes the trace. Spans of one thread nest in the file: one that begins in
// another and ends after it has a track of its own.
func (t *Trace) Write(w io.Writer) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
	e.text(`{"displayTimeUnit":"ms","otherData":{"exporter":"etwgen"},"traceEvents":[`)
	for _, p := range t.Processes {
		e.name("process_name", p.ID, 0, p.Name)
	}
	for _, x := range t.Threads {
		e.name("thread_name", x.Process, x.ID, x.Name)
	}
	e.spans(t.Spans)
	for spans := range t.byTrack() {
		e.spans(spans)
	}
	for i := range t.Marks {
		e.mark(&t.Marks[i])
	}
	for i := range t.Counters {
		e.counter(&t.Counters[i])
	}
	e.text("]}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// nest returns which spans are apart, or do not nest, of spans by thread and begin.
func nest(spans []*Span) []bool {
	apart := make([]bool, len(spans))
	var open []int64 // ends
	for i, x := range spans {
		if i == 0 || x.Process != spans[i-1].Process || x.Thread != spans[i-1].Thread {
			open = open[:0]
		}
		if apart[i] = x.Apart; apart[i] {
			continue
		}
		end := x.From + max(x.Length, 0)
		for len(open) > 0 && open[len(open)-1] <= x.From {
			open = open[:len(open)-1]
		}
		if apart[i] = len(open) > 0 && end > open[len(open)-1]; !apart[i] {
			open = append(open, end)
		}
	}
	return apart
}

type encoder struct {
	w      *bufio.Writer
	begun  bool
	number int // of spans so far
	err    error
}

// spans writes spans by thread and begin.
func (e *encoder) spans(list []Span) {
	sorted := make([]*Span, len(list))
	for i := range list {
		sorted[i] = &list[i]
	}
	order.Stable(sorted, func(a, b *Span) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.From, b.From), cmp.Compare(b.Length, a.Length))
	})
	for i, apart := range nest(sorted) {
		e.span(e.number, sorted[i], apart)
		e.number++
	}
}

// text writes a text. An error stays in the writer, whose Flush returns it.
func (e *encoder) text(s string) { e.w.WriteString(s) }

func (e *encoder) json(s string) {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD")) // no error: it is a string
	e.w.Write(b)
}

// micros writes a time in microseconds, with all its digits.
func (e *encoder) micros(ns int64) {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	text := sign + strconv.FormatInt(ns/1000, 10)
	if rest := ns % 1000; rest > 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(1000+rest, 10)[1:], "0")
	}
	e.text(text)
}

// event begins an event of a kind.
func (e *encoder) event(kind, name string, process, thread int64) {
	if e.begun {
		e.text(",")
	}
	e.begun = true
	e.text("\n" + `{"ph":"` + kind + `","name":`)
	e.json(cmp.Or(name, "?"))
	e.text(`,"pid":` + strconv.FormatInt(process, 10) + `,"tid":` + strconv.FormatInt(thread, 10))
}

func (e *encoder) name(of string, process, thread int64, name string) {
	e.event("M", of, process, thread)
	e.text(`,"args":{"name":`)
	e.json(name)
	e.text("}}")
}

func (e *encoder) at(category string, ns int64) {
	e.text(`,"cat":`)
	e.json(cmp.Or(category, "etw"))
	e.text(`,"ts":`)
	e.micros(ns)
}

func (e *encoder) args(list []Arg) {
	if len(list) == 0 {
		return
	}
	e.text(`,"args":{`)
	for i, a := range list {
		if i > 0 {
			e.text(",")
		}
		e.json(a.Name)
		e.text(":")
		if c := cmp.Or(a.Text, "x")[0]; (c == '-' || c >= '0' && c <= '9') && json.Valid([]byte(a.Text)) {
			e.text(a.Text)
			continue
		}
		e.json(a.Text)
	}
	e.text("}")
}

// span writes a span: as one event, or, apart, as its begin and its end, which their
// number joins.
func (e *encoder) span(number int, x *Span, apart bool) {
	length := max(x.Length, 0)
	if !apart {
		e.event("X", x.Name, x.Process, x.Thread)
		e.at(x.Category, x.From)
		e.text(`,"dur":`)
		e.micros(length)
		e.args(x.Args)
		e.text("}")
		return
	}
	e.apart(`,"id":"`+strconv.Itoa(number)+`"`, x)
}

// apart writes a span on the track of an id, and its parts within it.
func (e *encoder) apart(id string, x *Span) {
	e.event("b", x.Name, x.Process, x.Thread)
	e.at(x.Category, x.From)
	e.text(id)
	e.args(x.Args)
	e.text("}")
	for i := range x.Parts {
		part := x.Parts[i]
		part.Process, part.Thread, part.Category = x.Process, x.Thread, x.Category
		e.apart(id, &part)
	}
	e.event("e", x.Name, x.Process, x.Thread)
	e.at(x.Category, x.From+max(x.Length, 0))
	e.text(id + "}")
}

func (e *encoder) mark(x *Mark) {
	e.event("i", x.Name, x.Process, x.Thread)
	e.at(x.Category, x.At)
	e.text(`,"s":"t"`)
	e.args(x.Args)
	e.text("}")
}

func (e *encoder) counter(x *Counter) {
	e.event("C", x.Name, x.Process, 0)
	e.at("counter", x.At)
	e.text(`,"args":{`)
	for i, v := range x.Values {
		if i > 0 {
			e.text(",")
		}
		e.json(v.Name)
		b, err := json.Marshal(v.Number)
		if err != nil {
			e.err = cmp.Or(e.err, err)
			return
		}
		e.text(":" + string(b))
	}
	e.text("}}")
}
