package figures

import (
	"math"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/cpu"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// The names of figures of code begin with these.
const (
	kindMetric   = "cpu.kind."
	methodMetric = "cpu.method."
)

// Code returns the time on processors of a profile: all of it, by kind of work and by
// method. Samples of EventPipe tell it of managed code alone.
func Code(p *stacks.Profile, rules *work.Rules) []compare.Figure {
	if p.Len() == 0 {
		return nil
	}
	c := rules.Classify(p)
	var all spent
	byKind, byMethod := make(map[string]*spent), make(map[string]*spent)
	var kindNames, methods []string
	into := func(m map[string]*spent, names *[]string, name string) *spent {
		if m[name] == nil {
			m[name] = new(spent)
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
		for _, x := range []*spent{&all, into(byKind, &kindNames, kind), into(byMethod, &methods, name)} {
			x.add(lastOf(s.Values))
		}
	}
	var l list
	l.spent(CPUTime, "", &all)
	slices.Sort(kindNames)
	for _, name := range kindNames {
		l.spent(kindMetric+"*.ms", name, byKind[name])
	}
	for _, name := range methods {
		l.spent(methodMetric+"*.selfMs", name, byMethod[name])
	}
	return l.figures
}

// A spent is time on processors.
type spent struct {
	ns      int64
	squares float64 // of ms
}

func (s *spent) add(ns int64) {
	ms := float64(ns) / 1e6
	s.ns += ns
	s.squares += ms * ms
}

// spent adds time on processors. They are not always equally fast: it varies more than
// chance does.
func (l *list) spent(metric, of string, x *spent) {
	const uneven = 2
	l.add(metric, of, float64(x.ns)/1e6, uneven*math.Sqrt(x.squares))
}

// lastOf returns the value of a sample that is its weight.
func lastOf(values []int64) int64 { return values[len(values)-1] }

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

// Allocated returns the allocations of a profile, all and by type. They have the names of
// those that [Of] returns: use it for a part of the code.
func Allocated(p *stacks.Profile) []compare.Figure {
	if p.Len() == 0 {
		return nil
	}
	var l list
	total := p.Totals()
	l.total("alloc.bytes", "", float64(lastOf(total)), int(total[0]))
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
		l.total("alloc.bytes.*", name, float64(bytes[name]), int(ticks[name]))
	}
	return l.figures
}

// A method is compared if it has at least this part of the time on processors on one side,
// in percent: below it chance is most of the number.
const leastShare = 1

// IsMinor reports whether a figure is that of a method that weighs next to nothing of all
// time on processors.
func IsMinor(metric string, value, all float64) bool {
	return strings.HasPrefix(metric, methodMetric) && 100*value < leastShare*all
}
