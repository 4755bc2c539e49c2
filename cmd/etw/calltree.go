package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// callTree returns the call tree of a profile as pages show it, with what the last
// value of its samples weighs. A profile of two traces has what that was before as its
// first value.
func callTree(p *stacks.Profile, compared bool) *html.Flame {
	value := len(p.Types) - 1
	u := unitOf(p.Types[value])
	f := &html.Flame{What: strings.ToUpper(p.Kind[:1]) + p.Kind[1:], Unit: strings.TrimSuffix(p.Types[value].Name, " after")}
	switch u.suffix {
	case "Ms":
		f.Unit = "ms"
	case "MB":
		f.Unit = "MB"
	}
	for i := range p.Frames {
		fr := &p.Frames[i]
		f.Frames = append(f.Frames, html.Frame{Name: fr.Name, Full: fr.Full, Group: baseName(fr.Module)})
	}
	weights := make([]weighed, p.Stacks())
	for s := range p.Samples() {
		weights[s.Stack].now += float64(s.Values[value]) / u.per
		if compared {
			weights[s.Stack].before += float64(s.Values[0]) / u.per
		}
	}
	f.Calls, f.Compared = calls(p, weights), compared
	return f
}

// A weighed is what a stack weighs, and what it weighed before.
type weighed struct{ now, before float64 }

// calls returns those stacks of a profile that weigh anything, as calls.
func calls(p *stacks.Profile, weights []weighed) []html.Call {
	used := make([]bool, len(weights))
	for id := len(weights) - 1; id > 0; id-- { // callers have smaller numbers
		if used[id] = used[id] || weights[id] != (weighed{}); used[id] {
			caller, _ := p.Split(stacks.ID(id))
			used[caller] = true
		}
	}
	index := make([]int, len(weights))
	index[0] = -1
	var list []html.Call
	for id := 1; id < len(weights); id++ {
		if !used[id] {
			continue
		}
		caller, frame := p.Split(stacks.ID(id))
		index[id] = len(list)
		list = append(list, html.Call{Caller: index[caller], Frame: frame, Self: weights[id].now, Before: weights[id].before})
	}
	return list
}

// A sampler collects the call stacks of threads for a report.
type sampler struct {
	samples etw.Mux
	code    *codeMap
	finish  func() gathered
}

func newSampler(t *trace.Trace, files *native.Dir) *sampler {
	s := &sampler{code: newCodeMap(files)}
	s.finish = startCPU(&s.samples, t)
	return s
}

// take takes a record.
func (s *sampler) take(r *etw.Record) error {
	return cmp.Or(s.code.mux.Dispatch(r), s.samples.Dispatch(r))
}

// maxProfiles is how many processes of a report have call trees: those with most
// samples.
const maxProfiles = 10

// profiles returns the call trees of the processes that were sampled.
func (s *sampler) profiles() []html.Profile {
	found := s.finish()
	if len(found.samples) == 0 {
		return nil
	}
	all := stacks.NewProfile(s.code.code.Table(), stacks.Options{Names: stacks.QualifiedNames, Native: s.code.native}, found.samples...)
	counts := make(map[int64]int)
	for x := range all.Samples() {
		counts[x.Process]++
	}
	pids := slices.SortedFunc(maps.Keys(counts), func(a, b int64) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var list []html.Profile
	for _, pid := range pids[:min(len(pids), maxProfiles)] {
		of := all
		if len(pids) > 1 {
			of = all.Only(func(x stacks.Sample) bool { return x.Process == pid })
		}
		tree := callTree(of, false)
		tree.Lead = found.facts
		list = append(list, html.Profile{PID: pid, Flame: tree})
	}
	return list
}
