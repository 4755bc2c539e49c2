package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/cpu"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// The names of figures of code begin with these.
const (
	kindMetric    = "cpu.kind."
	methodMetric  = "cpu.method."
	profileMetric = "profile."

	inMethod = ".method."
)

// Code returns the time on processors of a profile: all of it, by kind of work and by
// method. Of samples of EventPipe it is the time of threads that are not seen to wait, by one rule for
// all runtimes, since not all of them tell managed code from code that it called.
func Code(p *stacks.Profile, rules *work.Rules) []compare.Figure {
	if p.Len() == 0 {
		return nil
	}
	c := rules.Classify(p)
	var all spent
	var byKind, byMethod shares
	for s := range p.Samples() {
		kind := c.Of(s).Name
		if p.Kind == cpu.ThreadTime && !cpu.MayRun(p, s) {
			continue
		}
		ns, n := lastOf(s.Values), timesOf(p, s)
		all.add(ns, n)
		byKind.of(kind).add(ns, n)
		byMethod.of(selfOf(p, s)).add(ns, n)
	}
	var l list
	l.spent(CPUTime, "", &all)
	slices.Sort(byKind.names)
	for _, name := range byKind.names {
		l.spent(kindMetric+"*.ms", name, byKind.byName[name])
	}
	for _, name := range byMethod.names {
		l.spent(methodMetric+"*.selfMs", name, byMethod.byName[name])
	}
	return l.figures
}

// IsKind reports whether a figure is the time of a kind of work.
func IsKind(metric string) bool { return strings.HasPrefix(metric, kindMetric) }

// Weights returns the figures of a profile of another tool: the sum of its values, and that
// of each function itself. Time on processors has the names of [Code].
func Weights(p *stacks.Profile, rules *work.Rules) []compare.Figure {
	if p.Len() == 0 {
		return nil
	}
	of := p.Types[len(p.Types)-1]
	if of.Name == "cpu" && of.Unit == "nanoseconds" {
		return Code(p, rules)
	}
	unit, scale := of.Unit, 1.0
	if unit == "nanoseconds" {
		unit, scale = "ms", 1e6
	}
	var all spent
	var byMethod shares
	for s := range p.Samples() {
		v, n := lastOf(s.Values), timesOf(p, s)
		all.add(v, n)
		byMethod.of(selfOf(p, s)).add(v, n)
	}
	var l list
	put := func(metric, name string, x *spent) {
		k := Kind{Metric: metric, Area: profileMetric + of.Name, Name: name, Unit: unit, traits: worse | sum}
		l.put(k.valued(k.figure(""), float64(x.sum)/scale, uneven*math.Sqrt(x.squares)/scale))
	}
	whole := profileMetric + of.Name
	put(whole, of.Name, &all)
	for _, name := range byMethod.names {
		put(whole+inMethod+name+".self", "self of "+name, byMethod.byName[name])
	}
	return l.figures
}

// Shares are sums by name, in the order of their first samples.
type shares struct {
	byName map[string]*spent
	names  []string
}

func (x *shares) of(name string) *spent {
	if x.byName == nil {
		x.byName = make(map[string]*spent)
	}
	if x.byName[name] == nil {
		x.byName[name] = new(spent)
		x.names = append(x.names, name)
	}
	return x.byName[name]
}

// selfOf returns the name of the method that a sample was taken in. Addresses of code without one
// are others in another process.
func selfOf(p *stacks.Profile, s stacks.Sample) string {
	_, frame := p.Split(s.Stack)
	name := p.Frames[frame].Name
	if _, err := strconv.ParseUint(strings.TrimPrefix(name, "0x"), 16, 64); err == nil && strings.HasPrefix(name, "0x") {
		return "[unnamed code]"
	}
	return name
}

// timesOf returns how many samples one stands for: profiles of other tools add up those of
// one stack. Weights without a unit are counts in practice.
func timesOf(p *stacks.Profile, s stacks.Sample) int64 {
	if unit := p.Types[0].Unit; unit == "count" || unit == "" {
		return max(s.Values[0], 1)
	}
	return 1
}

// A spent is a sum of samples, such as time on processors.
type spent struct {
	sum     int64
	squares float64
}

// add adds the weight of n samples.
func (s *spent) add(v, n int64) {
	s.sum += v
	s.squares += float64(v) * float64(v) / float64(n)
}

// Processors are not always equally fast: time on them varies more than chance does.
const uneven = 2

// spent adds time on processors.
func (l *list) spent(metric, of string, x *spent) {
	l.add(metric, of, float64(x.sum)/1e6, uneven*math.Sqrt(x.squares)/1e6)
}

// lastOf returns the value of a sample that is its weight.
func lastOf(values []int64) int64 { return values[len(values)-1] }

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

// A method or process is compared if it has at least this part of the whole on one side, in
// percent: below it chance is most of the number.
const leastShare = 1

// IsMinor reports whether a figure is that of a method or a process that weighs next to nothing
// of the whole that it is a part of. Whole returns the value of a figure by its name.
func IsMinor(metric string, value float64, whole func(metric string) float64) bool {
	switch {
	case strings.HasPrefix(metric, methodMetric):
		return 100*value < leastShare*whole(CPUTime)
	case strings.HasPrefix(metric, profileMetric):
		of, _, ok := strings.Cut(metric, inMethod)
		return ok && 100*value < leastShare*whole(of)
	}
	for i := range kinds {
		if of := strings.TrimSuffix(kinds[i].Metric, "*"); kinds[i].has(process) && strings.HasPrefix(metric, of) {
			return 100*value < leastShare*whole(strings.TrimSuffix(of, "."))
		}
	}
	return false
}
