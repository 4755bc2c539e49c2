package peers

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
)

type peerStacks struct {
	Samples struct {
		Samples, Frames, FramesNamed int64
		Folded                       []string
		Kinds                        map[string]int
		Threads                      map[int64]int
		Methods                      []struct {
			Name                 string
			Exclusive, Inclusive int64
		}
	}
	ThreadTime struct {
		TotalMS float64
	}
}

// unknownFrame is what TraceEvent calls frames without a name.
const unknownFrame = "?!?"

// peerFrame returns the name that TraceEvent has of a frame. It writes modules now
// so, now as the trace has it, and has a name for those of which the trace does not
// tell.
func peerFrame(f *stacks.Frame) string {
	if f.Kind == symbols.Unknown && !f.Pseudo {
		return unknownFrame
	}
	return lowerModule(f.Name)
}

func lowerModule(name string) string {
	name = strings.TrimPrefix(name, "ManagedModule!")
	if i := strings.IndexByte(name, '!'); i >= 0 {
		return strings.ToLower(name[:i]) + name[i:]
	}
	return name
}

// compareStacks compares the samples of threads: how many there are, of whom, the
// methods in them by name, and each stack.
func compareStacks(s *sheet) {
	theirs := &s.theirs.Stacks.Samples
	if theirs.Samples == 0 && s.cpu.Samples == 0 {
		return
	}
	if !s.theirs.Info.Complete {
		s.differs(whyQueued)
		return
	}
	s.equal("samples", int64(s.cpu.Samples), theirs.Samples)
	s.equal("managed", s.cpu.Managed, theirs.Kinds["Managed"])
	s.equal("external", s.cpu.External, theirs.Kinds["External"])
	s.equal("threads", len(s.cpu.Threads), len(theirs.Threads))
	for _, t := range s.cpu.Threads {
		s.equal("samples of a thread", t.Samples, theirs.Threads[t.Thread])
	}
	compareMethods(s)
	if theirs.Frames == theirs.FramesNamed {
		compareFolded(s)
	}
	compareThreadTime(s)
}

// compareMethods compares the samples in and below each method.
func compareMethods(s *sheet) {
	type sum struct{ self, total int64 }
	ours := map[string]sum{}
	for _, row := range s.stacks.View().Top() {
		name := peerFrame(&s.stacks.Frames[row.Frame])
		ours[name] = sum{ours[name].self + row.Self[0], ours[name].total + row.Total[0]}
	}
	for _, m := range s.theirs.Stacks.Samples.Methods {
		if m.Name == unknownFrame {
			s.differs(whyUnnamed)
			continue
		}
		got := ours[lowerModule(m.Name)]
		s.equal("samples in "+m.Name, got.self, m.Exclusive)
		s.equal("samples below "+m.Name, got.total, m.Inclusive)
	}
}

// compareFolded compares each stack with the number of its samples.
func compareFolded(s *sheet) {
	ours := map[string]int{}
	for sample := range s.stacks.Samples() {
		if sample.Values[0] == 0 {
			continue // a pause
		}
		var names []string
		for f := range s.stacks.Stack(sample.Stack) {
			names = append(names, peerFrame(&s.stacks.Frames[f]))
		}
		slices.Reverse(names)
		ours[strings.Join(names, ";")] += int(sample.Values[0])
	}
	theirs := map[string]int{}
	for _, line := range s.theirs.Stacks.Samples.Folded {
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.Atoi(line[i+1:])
		if err != nil {
			s.t.Errorf("%s: %v in %s", s.file, err, line)
		}
		names := strings.Split(line[:i], ";")
		for i := range names {
			names[i] = lowerModule(names[i])
		}
		theirs[strings.Join(names, ";")] += n
	}
	s.equal("different stacks", len(ours), len(theirs))
	for line, n := range theirs {
		s.equal("samples of "+line, ours[line], n)
	}
}

// compareThreadTime compares the time from the first to the last sample of all
// threads. TraceEvent takes allocation ticks with a stack for samples, too.
func compareThreadTime(s *sheet) {
	if s.theirs.Allocs.TickCount > 0 {
		s.differs(whyTicksAsSamples)
		return
	}
	ours := s.cpu.TimeMS + s.cpu.PauseMS + s.cpu.UnsampledMS
	s.count()
	if math.Abs(ours-s.theirs.Stacks.ThreadTime.TotalMS) > 1e-3 {
		s.t.Errorf("%s: stacks: the time of threads is %v ms, and TraceEvent says %v", s.file, ours, s.theirs.Stacks.ThreadTime.TotalMS)
	}
}
