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
	}
	ThreadTime struct {
		TotalMS float64
		Leaves  []struct {
			Name string
			MS   float64
		}
	}
}

// unknownFrame is TraceEvent's name for frames without one.
const unknownFrame = "?!?"

// peerFrame returns the name that TraceEvent has of a frame. It writes modules now
// so, now as the trace has it, and has a name for those of which the trace does not
// tell.
func peerFrame(f *stacks.Frame) string {
	if f.Kind == symbols.Unknown && !f.Pseudo {
		return unknownFrame
	}
	return lowerModule(strings.TrimSuffix(f.Name, uncertain))
}

// uncertain is the end of names of frames here if the address had several.
const uncertain = " (?)"

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

// methodSums are the samples in and below methods, each sample once.
type methodSums map[string]struct{ self, total int64 }

// add takes samples of a stack, the innermost frame last.
func (m methodSums) add(names []string, n int64) {
	for i, name := range names {
		x := m[name]
		if i == len(names)-1 {
			x.self += n
		}
		if !slices.Contains(names[:i], name) {
			x.total += n
		}
		m[name] = x
	}
}

// ownStacks returns the samples of each stack, with the names that TraceEvent has.
func ownStacks(s *sheet) map[string]int64 {
	ours := map[string]int64{}
	for sample := range s.stacks.Samples() {
		if sample.Values[0] == 0 {
			continue // a pause
		}
		var names []string
		for f := range s.stacks.Stack(sample.Stack) {
			names = append(names, peerFrame(&s.stacks.Frames[f]))
		}
		slices.Reverse(names)
		ours[strings.Join(names, ";")] += sample.Values[0]
	}
	return ours
}

// peerStacksOf returns the samples of each stack there, modules written in one way.
func peerStacksOf(s *sheet) map[string]int64 {
	theirs := map[string]int64{}
	for _, line := range s.theirs.Stacks.Samples.Folded {
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseInt(line[i+1:], 10, 64)
		if err != nil {
			s.t.Errorf("%s: %v in %s", s.file, err, line)
		}
		names := strings.Split(line[:i], ";")
		for i := range names {
			names[i] = lowerModule(names[i])
		}
		theirs[strings.Join(names, ";")] += n
	}
	return theirs
}

// compareMethods compares the samples in and below each method. TraceEvent has a method
// twice if its module is written in two ways; here and there they are summed up.
func compareMethods(s *sheet) {
	ours, theirs := methodSums{}, methodSums{}
	for stack, n := range ownStacks(s) {
		ours.add(strings.Split(stack, ";"), n)
	}
	for stack, n := range peerStacksOf(s) {
		theirs.add(strings.Split(stack, ";"), n)
	}
	for name, m := range theirs {
		if name == unknownFrame {
			s.differs(whyUnnamed)
			continue
		}
		s.equal("samples in "+name, ours[name].self, m.self)
		s.equal("samples below "+name, ours[name].total, m.total)
	}
}

// compareFolded compares each stack with the number of its samples.
func compareFolded(s *sheet) {
	ours, theirs := ownStacks(s), peerStacksOf(s)
	s.equal("different stacks", len(ours), len(theirs))
	for line, n := range theirs {
		s.equal("samples of "+line, ours[line], n)
	}
}

// peerAwaited are the leaves of the time that nobody was sampled in: TraceEvent follows tasks
// by the events of TplEventSource, and adds how long they were awaited.
var peerAwaited = []string{"AWAIT_TIME", "UNKNOWN_ASYNC"}

// compareThreadTime compares the time from the first to the last sample of all threads, of which the one
// stands for half of the round before, too, and the other for half of the next, which tests of cpu hold.
// TraceEvent takes allocation ticks with a stack for samples, too.
func compareThreadTime(s *sheet) {
	if s.theirs.Allocs.TickCount > 0 {
		s.differs(whyTicksAsSamples)
		return
	}
	ours, first, last := 0.0, map[int64]int64{}, map[int64]int64{}
	for sample := range s.stacks.Samples() {
		if _, ok := first[sample.Thread]; !ok {
			first[sample.Thread], last[sample.Thread] = sample.Time, sample.Time
		}
		first[sample.Thread], last[sample.Thread] = min(first[sample.Thread], sample.Time), max(last[sample.Thread], sample.Time)
	}
	for thread, at := range last {
		ours += float64(at-first[thread]) / 1e6
	}
	theirs := s.theirs.Stacks.ThreadTime.TotalMS
	for _, leaf := range s.theirs.Stacks.ThreadTime.Leaves {
		if slices.Contains(peerAwaited, leaf.Name) {
			theirs -= leaf.MS
			s.differs(whyAwaited)
		}
	}
	s.count()
	if math.Abs(ours-theirs) > 1e-3 {
		s.t.Errorf("%s: stacks: from first to last samples of threads are %v ms, and TraceEvent says %v", s.file, ours, theirs)
	}
}
