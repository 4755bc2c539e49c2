package chrometrace

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threads"
)

func nanoseconds(ms float64) int64 { return int64(math.Round(ms * 1e6)) }

// gcTrack is the number of the track that collections have in each process: that of no
// thread.
const gcTrack = 0

// AddGC adds the pauses of collections, their steps, collections that ran beside the
// program, and the sizes of heaps.
func (t *Trace) AddGC(res *gc.Result) {
	for _, rt := range res.Runtimes {
		if len(rt.GCs) > 0 {
			t.Threads = append(t.Threads, Thread{rt.PID, gcTrack, "garbage collections"})
		}
		for _, c := range rt.GCs {
			t.addCollection(rt.PID, c)
		}
	}
}

func (t *Trace) addCollection(pid int64, c *gc.GC) {
	name := fmt.Sprintf("GC #%d %s", c.Number, c.Name)
	args := []Arg{{"reason", c.Reason}}
	for _, a := range []struct {
		name  string
		value measure.Float
	}{{"pauseMs", c.PauseMS}, {"suspendMs", c.SuspendMS}, {"beforeMB", c.BeforeMB}, {"afterMB", c.AfterMB}, {"promotedMB", c.PromotedMB}} {
		if !a.value.IsZero() {
			args = append(args, Arg{a.name, a.value.String()})
		}
	}
	pause := c.PauseMS
	background := c.Kind == gc.Background
	if background && !c.InitialPauseMS.IsZero() {
		pause = c.InitialPauseMS
	}
	from, end := nanoseconds(c.StartMS), nanoseconds(c.StartMS)
	if ms, ok := pause.Get(); ok {
		end = from + nanoseconds(ms)
		t.Spans = append(t.Spans, Span{Process: pid, Thread: gcTrack, Name: name + " pause", Category: "gc", From: from, Length: end - from, Args: args})
	}
	if begin, ok := c.BeginMS.Get(); ok && !c.DurationMS.IsZero() {
		x := Span{Process: pid, Thread: gcTrack, Name: name, Category: "gc", From: nanoseconds(begin), Length: nanoseconds(c.DurationMS.Or(0)), Apart: background}
		t.Spans = append(t.Spans, x)
		end = max(end, x.From+x.Length)
	}
	size := Counter{Process: pid, Name: "heap after GC, MB", At: end}
	for _, g := range c.Generations {
		if mb, ok := g.AfterMB.Get(); ok {
			size.Values = append(size.Values, Value{generationName(g.Generation), mb})
		}
	}
	if len(size.Values) > 0 {
		t.Counters = append(t.Counters, size)
	}
}

// generationName returns the name of a generation.
func generationName(g gc.Generation) string {
	names := [...]string{"gen0", "gen1", "gen2", "large objects", "pinned objects"}
	if g < 0 || int(g) >= len(names) {
		return "unknown"
	}
	return names[g]
}

// AddJIT adds the compilations of methods, on the threads that compiled.
func (t *Trace) AddJIT(res *jit.Result) {
	for i := range res.Methods {
		m := &res.Methods[i]
		if ms, ok := m.InclusiveMS.Get(); ok {
			t.Spans = append(t.Spans, Span{Process: m.PID, Thread: m.Thread, Name: "JIT " + m.Method, Category: "jit", From: nanoseconds(m.StartMS), Length: nanoseconds(ms),
				Args: []Arg{{"module", m.Module}, {"tier", m.Tier}, {"ilBytes", fmt.Sprint(m.ILBytes)}, {"nativeBytes", fmt.Sprint(m.NativeBytes)}}})
		}
	}
}

// AddRequests adds the activities that the result lists, those too that were not over, with the parts of
// their time by cause where the trace tells. They are not bound to threads.
func (t *Trace) AddRequests(res *requests.Result) {
	for _, p := range res.Processes {
		for i := range p.Tasks {
			for _, a := range append(slices.Clip(p.Tasks[i].Slowest), p.Tasks[i].Unended...) {
				x := Span{Process: p.PID, Thread: a.Thread, Name: strings.TrimSpace(p.Tasks[i].Task + " " + a.Name), Category: "request",
					From: nanoseconds(a.StartMS), Length: nanoseconds(a.DurationMS), Apart: true, Args: []Arg{{"id", a.ID}, {"status", a.Status}}}
				x.Parts = causes(a.Path, x.From+x.Length)
				t.Spans = append(t.Spans, x)
			}
		}
	}
}

// causes returns the parts of an activity. Each lasts to the next one, and the last to the
// end, so that none overlaps another by rounding.
func causes(path []requests.Part, end int64) []Span {
	list := make([]Span, len(path))
	for i := len(path) - 1; i >= 0; i-- {
		p := &path[i]
		from := nanoseconds(p.StartMS)
		list[i] = Span{Name: p.Kind, From: from, Length: end - from, Args: []Arg{{"of", p.Name}}}
		if p.Name == "" {
			list[i].Args = nil
		}
		if p.Thread != 0 {
			list[i].Args = append(list[i].Args, Arg{"tid", fmt.Sprint(p.Thread)})
		}
		end = from
	}
	return list
}

// AddCounters adds counters and metrics.
func (t *Trace) AddCounters(res *counters.Result) {
	for i := range res.Processes {
		p := &res.Processes[i]
		for k := range p.Counters {
			c := &p.Counters[k]
			name := strings.TrimSpace(c.Provider + "/" + c.Name + " " + c.Unit)
			for _, x := range c.Points {
				v := x.Mean
				if c.Type == "Sum" {
					v = x.Increment
				}
				t.addPoint(p.PID, name, x.AtMS, v)
			}
		}
		for k := range p.Metrics {
			m := &p.Metrics[k]
			name := strings.TrimSpace(m.Meter + "/" + m.Instrument + " " + m.Unit + " " + m.Tags)
			for _, x := range m.Points {
				v := x.Value
				for _, other := range []measure.Float{x.Rate, x.Sum} {
					if v.IsZero() {
						v = other
					}
				}
				t.addPoint(p.PID, name, x.AtMS, v)
			}
		}
	}
}

func (t *Trace) addPoint(pid int64, name string, ms float64, v measure.Float) {
	if number, ok := v.Get(); ok {
		t.Counters = append(t.Counters, Counter{Process: pid, Name: name, At: nanoseconds(ms), Values: []Value{{"value", number}}})
	}
}

// AddSamples adds samples, which are spans if they last, and else marks. Their name is
// that of their kind, with the value of a label. origin is when the session began, in
// nanoseconds since 1970.
func (t *Trace) AddSamples(s *stacks.Samples, label string, origin int64) {
	last := len(s.Types) - 1
	for x := range s.All() {
		name := s.Kind
		for _, l := range x.Labels {
			if l.Key == label {
				name += " " + l.Value
			}
		}
		if s.Types[last].Unit == "nanoseconds" {
			t.Spans = append(t.Spans, Span{Process: x.Process, Thread: x.Thread, Name: name, Category: s.Kind, From: x.Time - origin, Length: x.Values[last]})
			continue
		}
		m := Mark{Process: x.Process, Thread: x.Thread, Name: name, Category: s.Kind, At: x.Time - origin}
		if last > 0 {
			m.Args = []Arg{{s.Types[last].Name, fmt.Sprint(x.Values[last])}}
		}
		t.Marks = append(t.Marks, m)
	}
}

// statesBase is added to the number of a process to get that of the tracks of its threads'
// states: the activities that they ran do not nest in the times when they ran.
const statesBase = 1 << 30

// AddThreads adds the states of threads, as tracks of their own. name returns the name of a
// process.
func (t *Trace) AddThreads(a *threads.Analysis, origin int64, name func(pid int64) string) {
	type track struct{ pid, tid int64 }
	processes, known := make(map[int64]bool), make(map[track]bool)
	for x := range a.Spans() {
		pid := statesBase + max(x.PID, 0)
		if !processes[pid] {
			processes[pid] = true
			t.Processes = append(t.Processes, Process{pid, "threads of " + name(x.PID)})
		}
		if !known[track{pid, x.TID}] {
			known[track{pid, x.TID}] = true
			t.Threads = append(t.Threads, Thread{pid, x.TID, strings.TrimSpace(fmt.Sprintf("%s %d", x.Name, x.TID))})
		}
		text := x.State
		var args []Arg
		if x.Reason != "" {
			text += ": " + x.Reason
		}
		if x.By != "" {
			args = []Arg{{"ended by", x.By}}
		}
		t.Spans = append(t.Spans, Span{Process: pid, Thread: x.TID, Name: text, Category: "thread", From: x.From - origin, Length: x.To - x.From, Args: args})
	}
}
