package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/cpu"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// What numbers of code are called.
const (
	kindMetric   = "cpu.kind."
	methodMetric = "cpu.method."
	codeArea     = "cpu"
)

// code adds the time on processors: all of it, by kind of work and by method. Samples of
// EventPipe tell it of managed code alone.
func (f *figures) code(p *stacks.Profile, rules *work.Rules) {
	const area = codeArea
	if p.Len() == 0 {
		return
	}
	f.samples = fmt.Sprintf("%s in %s", p.Kind, p.Types[len(p.Types)-1].Unit)
	c := rules.Classify(p)
	type sum struct {
		ns      int64
		squares float64 // of ms
	}
	var all sum
	byKind, byMethod := make(map[string]*sum), make(map[string]*sum)
	var kindNames, methods []string
	into := func(m map[string]*sum, names *[]string, name string) *sum {
		if m[name] == nil {
			m[name] = new(sum)
			*names = append(*names, name)
		}
		return m[name]
	}
	for s := range p.Samples() {
		kind := c.Of(s).Name
		if p.Kind == cpu.ThreadTime && !onProcessor(s) {
			continue
		}
		_, frame := p.Split(s.Stack)
		name := p.Frames[frame].Name
		for _, x := range []*sum{&all, into(byKind, &kindNames, kind), into(byMethod, &methods, name)} {
			ms := float64(lastOf(s.Values)) / 1e6
			x.ns += lastOf(s.Values)
			x.squares += ms * ms
		}
	}
	// Processors are not always equally fast: it varies more than chance does.
	const uneven = 2
	add := func(metric, name string, x *sum) {
		f.sum(area, metric, name, float64(x.ns)/1e6, uneven*math.Sqrt(x.squares))
		f.varies()
	}
	add("cpu.ms", "ms", &all)
	slices.Sort(kindNames)
	for _, name := range kindNames {
		add(kindMetric+name+".ms", "ms of kind "+name, byKind[name])
	}
	for _, name := range methods {
		add(methodMetric+name+".selfMs", "selfMs of "+name, byMethod[name])
	}
}

// onProcessor reports whether a sample of EventPipe is of a thread that may have run: in
// managed code, as all commands count it.
func onProcessor(s stacks.Sample) bool {
	for _, l := range s.Labels {
		if l.Key == "state" {
			return l.Value == "managed"
		}
	}
	return true
}

// allocated adds what was allocated below a frame, by type.
func (f *figures) allocated(p *stacks.Profile) {
	const area = "allocations"
	if p.Len() == 0 {
		return
	}
	total := p.Totals()
	f.total(area, "alloc.bytes", "bytes", float64(lastOf(total)), int(total[0]))
	bytes, ticks := make(map[string]int64), make(map[string]int64)
	var types []string
	for s := range p.Samples() {
		name := "(unknown)"
		for _, l := range s.Labels {
			if l.Key == "type" {
				name = l.Value
			}
		}
		if ticks[name] == 0 {
			types = append(types, name)
		}
		bytes[name] += lastOf(s.Values)
		ticks[name] += max(s.Values[0], 1)
	}
	for _, name := range types {
		f.total(area, "alloc.bytes."+name, "bytes of "+name, float64(bytes[name]), int(ticks[name]))
	}
}

// leastShare is which part of the time on processors a method has at least on one side to
// be compared, in percent.
const leastShare = 1

// isMinor reports whether a number is that of a method that weighs next to nothing of all.
func isMinor(metric string, value, all float64) bool {
	return strings.HasPrefix(metric, methodMetric) && 100*value < leastShare*all
}
