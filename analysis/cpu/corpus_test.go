package cpu

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
)

// analyze returns the samples of a trace with names as TraceEvent has them.
func analyze(tb testing.TB, path string) (*stacks.Profile, *Result) {
	tb.Helper()
	var mux etw.Mux
	s, c := symbols.New(&mux), New(&mux)
	testtrace.Run(tb, &mux, path)
	return stacks.NewProfile(s.Table(), stacks.Options{Raw: true, AsSampled: true}, c.Samples()...), c.Result()
}

// unknown is TraceEvent's name for frames without one.
const unknown = "?!?"

func peerName(f *stacks.Frame) string {
	if f.Kind == symbols.Unknown && !f.Pseudo {
		return unknown
	}
	return module(f.Name)
}

// module returns a name with its module in lower case, since TraceEvent writes that of
// one file now so, now as the trace has it. It has a name for those of which the trace
// does not tell.
func module(name string) string {
	name = strings.TrimPrefix(name, "ManagedModule!")
	if i := strings.IndexByte(name, '!'); i >= 0 {
		return strings.ToLower(name[:i]) + name[i:]
	}
	return name
}

// folded returns the stacks of samples as lines, and how many samples have each.
func folded(p *stacks.Profile) map[string]int64 {
	lines := map[string]int64{}
	for s := range p.Samples() {
		if s.Values[0] == 0 {
			continue // a pause
		}
		var names []string
		for f := range p.Stack(s.Stack) {
			names = append(names, peerName(&p.Frames[f]))
		}
		slices.Reverse(names)
		lines[strings.Join(names, ";")] += s.Values[0]
	}
	return lines
}

type peerSamples struct {
	Stacks struct {
		Samples struct {
			Samples, Frames, FramesNamed int64
			Folded                       []string
			Kinds                        map[string]int
			Methods                      []struct {
				Name                 string
				Exclusive, Inclusive int64
			}
		}
	}
}

// Every stack of every sample is that which TraceEvent has, with the same names, and
// so are the methods by their own samples and by all in which they occur. The sums
// agree however they are made, and time is not more than there was.
func TestTraceEventAgrees(t *testing.T) {
	traces, samples, methods := 0, int64(0), 0
	for _, path := range testtrace.All(t) {
		var peer peerSamples
		if !testtrace.Peer(t, path, &peer) || peer.Stacks.Samples.Samples == 0 {
			continue
		}
		name := testtrace.Name(path)
		p, res := analyze(t, path)
		checkSums(t, name, p, res)
		checkThreads(t, name, p, res)
		if strings.Contains(path, "killed") {
			continue // of a trace that was not stopped TraceEvent drops events
		}
		want := peer.Stacks.Samples
		if int64(res.Samples) != want.Samples || res.Managed != want.Kinds["Managed"] || res.External != want.Kinds["External"] {
			t.Errorf("%s: %+v; TraceEvent has %d, %v", name, res, want.Samples, want.Kinds)
		}
		if got := p.Naming; got.Named < want.FramesNamed {
			t.Errorf("%s: %+v; TraceEvent names %d", name, got, want.FramesNamed)
		}
		traces++
		samples += want.Samples
		if want.Frames == want.FramesNamed {
			compareFolded(t, name, folded(p), want.Folded)
		}
		methods += compareMethods(t, name, p, &peer)
	}
	t.Logf("%d traces, %d samples, %d methods", traces, samples, methods)
}

func compareFolded(t *testing.T, name string, ours map[string]int64, peer []string) {
	t.Helper()
	for _, line := range peer {
		i := strings.LastIndexByte(line, ' ')
		var n int64
		fmt.Sscan(line[i+1:], &n)
		names := strings.Split(line[:i], ";")
		for i := range names {
			names[i] = module(names[i])
		}
		ours[strings.Join(names, ";")] -= n
	}
	for line, n := range ours {
		if n != 0 {
			t.Errorf("%s: %d more samples than TraceEvent has of %s", name, n, line)
		}
	}
}

func compareMethods(t *testing.T, name string, p *stacks.Profile, peer *peerSamples) int {
	t.Helper()
	type sum struct{ self, total int64 }
	ours := map[string]sum{}
	for _, row := range p.View().Top() {
		n := peerName(&p.Frames[row.Frame])
		s := ours[n]
		ours[n] = sum{s.self + row.Self[0], s.total + row.Total[0]}
	}
	for _, m := range peer.Stacks.Samples.Methods {
		if got := ours[module(m.Name)]; m.Name != unknown && (got.self != m.Exclusive || got.total != m.Inclusive) {
			t.Errorf("%s: %s has %+v samples; TraceEvent %+v", name, m.Name, got, m)
		}
	}
	return len(peer.Stacks.Samples.Methods)
}

// checkSums holds the sums of samples, of the tree and of methods against each other.
func checkSums(t *testing.T, name string, p *stacks.Profile, res *Result) {
	t.Helper()
	total := p.Totals()
	if total[0] != int64(res.Samples) || math.Abs(float64(total[1])/1e6-res.TimeMS-res.PauseMS) > 1e-6*float64(res.Samples) {
		t.Errorf("%s: totals %v, %+v", name, total, res)
	}
	v := p.View()
	if got := v.Total(0); !slices.Equal(got, total) {
		t.Errorf("%s: the tree has %v, the samples %v", name, got, total)
	}
	self := make([]int64, 2)
	for _, row := range v.Top() {
		for i := range self {
			self[i] += row.Self[i]
			if row.Self[i] > row.Total[i] || row.Total[i] > total[i] {
				t.Errorf("%s: %s: %+v of %v", name, p.Frames[row.Frame].Name, row, total)
			}
		}
	}
	if !slices.Equal(self, total) {
		t.Errorf("%s: the methods have %v, the samples %v", name, self, total)
	}
}

// checkThreads holds the time of each thread against its first and last sample, of which the one also
// stands for half of the time since the round of samples before it, and the other for half of that to
// the next.
func checkThreads(t *testing.T, name string, p *stacks.Profile, res *Result) {
	t.Helper()
	type life struct{ first, last, sum int64 }
	threads := map[int64]*life{}
	var times []int64
	for s := range p.Samples() {
		times = append(times, s.Time)
		l := threads[s.Thread]
		if l == nil {
			l = &life{first: s.Time}
			threads[s.Thread] = l
		}
		l.first, l.last = min(l.first, s.Time), max(l.last, s.Time)
		l.sum += s.Values[1]
	}
	slices.Sort(times)
	for _, row := range res.Threads {
		l := threads[row.Thread]
		least, most := l.last-l.first, l.last-l.first
		i, _ := slices.BinarySearch(times, l.first)
		for i > 0 && times[i]-times[i-1] <= MaxRound {
			i-- // to the begin of its first round
		}
		most += (l.first - times[max(i-1, 0)]) / 2
		for i, _ = slices.BinarySearch(times, l.last); i+1 < len(times) && times[i+1]-times[i] <= MaxRound; {
			i++
		}
		most += (times[min(i+1, len(times)-1)] - l.last) / 2
		slack := MaxRound * int64(len(threads)) // a round begins with another thread
		least, most = least-slack, most+slack
		all := int64((row.TimeMS + row.PauseMS + row.UnsampledMS) * 1e6)
		if l.sum > most || all < least || all > most {
			t.Errorf("%s: thread %d: %d ns, with rounds without it %d, of %d to %d", name, row.Thread, l.sum, all, least, most)
		}
	}
	if len(slices.Collect(maps.Keys(threads))) != len(res.Threads) {
		t.Errorf("%s: %d threads, want %d", name, len(res.Threads), len(threads))
	}
}
