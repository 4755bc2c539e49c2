package threads

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A play is a script of context switches.
type play struct {
	*testtrace.Script
	a   *Analysis
	mux *etw.Mux
}

func newPlay(t *testing.T) *play {
	var mux etw.Mux
	return &play{testtrace.NewScript(t, &mux), New(&mux), &mux}
}

// to switches processor 0 from one thread to another.
func (p *play) to(ms int, from, to uint32, state kernel.ThreadState, stack ...byte) {
	e := &kernel.ThreadCSwitchV4{OldThreadID: from, NewThreadID: to, OldThreadState: state, OldThreadWaitReason: kernel.WaitReasonUserRequest}
	p.Stack = testtrace.AStack(stack...)
	p.Event(time.Duration(ms)*time.Millisecond, -1, e)
}

func (p *play) ready(ms int, by int64, thread uint32, flags kernel.ReadyThreadFlags) {
	p.Stack = etw.Stack{}
	p.Event(time.Duration(ms)*time.Millisecond, by, &kernel.ThreadReadyThreadV2{TThreadID: thread, Flag: flags})
}

// TestSwitches: each time that a thread comes to a processor, with its wait before, who ended
// that, how long it was ready, and how long it ran then.
func TestSwitches(t *testing.T) {
	p := newPlay(t)
	p.to(1, 0, 10, waits)
	p.to(3, 10, 20, waits)
	p.ready(7, 20, 10, 0)
	p.to(8, 20, 10, goes)
	p.to(10, 10, 20, waits)
	p.ready(11, 20, 10, kernel.ReadyThreadFlagsExecutingDpc)
	p.to(12, 20, 10, waits)
	res := p.a.Result()
	all := func(*system.Thread) bool { return true }
	view := SwitchView(p.a.Switches(all))
	var got []string
	for i := range view.Rows {
		line := ""
		for _, name := range []string{"atMs", "tid", "waitedMs", "why", "readyMs", "byTid", "by", "ranMs"} {
			switch v := view.At(i, view.Column(name)); {
			case v.Known():
				line += " " + strings.TrimSuffix(v.Text(), ".0")
			default:
				line += " -"
			}
		}
		got = append(got, line)
	}
	want := []string{
		" 8 10 4 UserRequest 1 20 - 2",
		" 10 20 0 preempted 2 - - 2",
		" 12 10 1 UserRequest 1 - [interrupt] -",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	waited, ready := 0.0, 0.0
	for _, s := range p.a.Switches(all) {
		waited += ms(s.readied - s.from)
		ready += ms(s.till - s.readied)
	}
	if waited != res.WaitingMS || ready != res.ReadyMS {
		t.Errorf("switches sum up to %v ms of waits and %v ms ready, the threads to %v and %v", waited, ready, res.WaitingMS, res.ReadyMS)
	}
	if n := len(p.a.Switches(func(t *system.Thread) bool { return t.TID == 20 })); n != 1 {
		t.Errorf("thread 20 has %d switches, want 1", n)
	}
}

// lines are samples in a form to compare.
func lines(s *stacks.Samples) []string {
	var list []string
	for x := range s.All() {
		var labels []string
		for _, l := range x.Labels {
			labels = append(labels, l.Value)
		}
		list = append(list, fmt.Sprintf("%d %v %s %d %d", x.Thread, s.Stack(x.Stack), strings.Join(labels, ","), x.Values[0], x.Values[1]/1e6))
	}
	return list
}

const (
	waits = kernel.ThreadStateWaiting
	goes  = kernel.ThreadStateReady
)

// Threads 10 and 20 share a processor.
func TestThreads(t *testing.T) {
	p := newPlay(t)
	p.to(1, 0, 10, waits)
	p.to(3, 10, 20, waits) // 10 ran for 2
	p.ready(7, 20, 10, 0)
	p.to(8, 20, 10, goes, 5, 6) // 10 waited for 4, was ready for 1; 20 ran for 5
	p.to(10, 10, 20, waits, 7)  // 20 was ready for 2; 10 ran for 2
	p.ready(11, 20, 10, kernel.ReadyThreadFlagsExecutingDpc)
	p.to(11, 20, 10, kernel.ThreadStateTerminated, 8) // 10 waited for 1; 20 ran for 1
	p.to(16, 10, 0, waits)                            // 10 ran for 5
	want := []string{
		"10 [5 6] waiting,UserRequest,thread 20 1 4",
		"10 [5 6] ready 0 1",
		"20 [7] ready 1 2",
		"10 [8] waiting,UserRequest,[interrupt] 1 1",
	}
	if diff := cmp.Diff(want, lines(p.a.Samples()[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	res := p.a.Result()
	wantResult := &Result{Schema: 1, Switches: 6, Readies: 2, Times: Times{RunningMS: 15, ReadyMS: 3, WaitingMS: 5},
		Threads: []Thread{
			{PID: -1, TID: 10, LifeMS: 15, Times: Times{9, 1, 5, 0}, Switches: 3, Waits: 2, LongestMS: 4},
			{PID: -1, TID: 20, LifeMS: 8, Times: Times{6, 2, 0, 0}, Switches: 2, Preempted: 1},
		},
		Processors: []Processor{{Number: 0, SpanMS: 15, BusyMS: 15}},
	}
	for i := range res.Threads {
		res.Threads[i].PID = -1
	}
	if diff := cmp.Diff(wantResult, res); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Where events are missing, nobody runs who is not known to.
func TestGaps(t *testing.T) {
	p := newPlay(t)
	p.to(1, 0, 10, waits)
	p.to(5, 20, 30, waits)    // somebody switched from 10 to 20
	p.to(6, 30, 10, waits, 1) // 10 comes again, since when nobody knows
	p.to(9, 10, 20, waits, 2) // 10 ran for 3; 20 waited for 4
	p.to(12, 30, 0, waits)    // somebody switched from 20 to 30, which was waiting
	p.ready(13, -1, 77, 0)    // is not known
	p.to(20, 0, 30, waits, 3) // 30 waited for 8
	res := p.a.Result()
	want := []Thread{
		{PID: -1, TID: 10, LifeMS: 19, Times: Times{RunningMS: 3, WaitingMS: 11, UnknownMS: 5}, OpenMS: 11, Switches: 2, Waits: 1, LongestMS: 11},
		{PID: -1, TID: 30, LifeMS: 15, Times: Times{RunningMS: 1, WaitingMS: 8, UnknownMS: 6}, Switches: 2, Waits: 1, LongestMS: 8},
		{PID: -1, TID: 20, LifeMS: 15, Times: Times{WaitingMS: 4, UnknownMS: 11}, Switches: 1, Waits: 1, LongestMS: 4},
	}
	for i := range res.Threads {
		res.Threads[i].PID = -1
	}
	if diff := cmp.Diff(want, res.Threads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if res.Gaps != 2 || res.Processors[0].UnknownMS != 7 {
		t.Errorf("%+v", res)
	}
	if got := p.a.Samples()[0].Len(); got != 3 {
		t.Errorf("%d samples", got)
	}
}

// A thread that starts is ready until it runs.
func TestStart(t *testing.T) {
	p := newPlay(t)
	p.Event(2*time.Millisecond, 9, &kernel.ThreadStartV3{ProcessID: 4, TThreadID: 10})
	p.to(5, 0, 10, waits, 1)
	p.to(6, 10, 0, kernel.ThreadStateTerminated)
	p.Event(6*time.Millisecond, 9, &kernel.ThreadStopV3{ProcessID: 4, TThreadID: 10})
	p.Event(9*time.Millisecond, 9, &kernel.ThreadStartV3{ProcessID: 5, TThreadID: 10}) // another
	p.to(10, 0, 10, waits, 1)
	res := p.a.Result()
	want := []Thread{
		{PID: 4, TID: 10, LifeMS: 4, Times: Times{RunningMS: 1, ReadyMS: 3}, Switches: 1},
		{PID: 5, TID: 10, LifeMS: 1, Times: Times{ReadyMS: 1}, Switches: 1},
	}
	if diff := cmp.Diff(want, res.Threads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A thread that was created suspended is not ready before another one sees to it, and one that the
// recording has not seen go is ready since then.
func TestMadeReady(t *testing.T) {
	p := newPlay(t)
	p.Event(2*time.Millisecond, 9, &kernel.ThreadStartV3{ProcessID: 4, TThreadID: 10})
	p.Event(2*time.Millisecond, 9, &kernel.ThreadStartV3{ProcessID: 4, TThreadID: 11}) // for ever
	p.ready(7, 9, 10, 0)
	p.to(8, 0, 10, waits, 1)
	p.ready(9, 10, 20, 0)
	p.to(12, 10, 20, waits, 2)
	p.to(13, 20, 0, waits)
	want := []Thread{
		{PID: 4, TID: 10, LifeMS: 11, Times: Times{RunningMS: 4, ReadyMS: 1, WaitingMS: 6}, OpenMS: 1, Switches: 1, Waits: 2, LongestMS: 5},
		{PID: -1, TID: 20, LifeMS: 4, Times: Times{RunningMS: 1, ReadyMS: 3}, Switches: 1},
		{PID: 4, TID: 11, LifeMS: 11, Times: Times{WaitingMS: 11}, OpenMS: 11, Waits: 1, LongestMS: 11},
	}
	if diff := cmp.Diff(want, p.a.Result().Threads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	view := SwitchView(p.a.Switches(func(*system.Thread) bool { return true }))
	if view.Rows != 4 || view.At(1, view.Column("waitedMs")).Known() || view.At(1, view.Column("readyMs")).Text() != "3" {
		t.Errorf("%d rows, the last one ready for %s", view.Rows, view.At(1, view.Column("readyMs")).Text())
	}
	want10 := []string{"10 [1] waiting,created,thread 9 1 5", "10 [1] ready 0 1", "20 [2] ready 1 3",
		"10 [] waiting,UserRequest,[not over] 1 1", "11 [] waiting,created,[not over] 1 11"}
	if diff := cmp.Diff(want10, lines(p.a.Samples()[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNotOver: a wait that never ends is the longest of its thread, a sample and a row, and has a part in
// each time that it reaches into; so has a thread that could run and never did.
func TestNotOver(t *testing.T) {
	for _, from := range []int{0, 40} {
		p := newPlay(t)
		if from > 0 {
			p.Between(time.Duration(from)*time.Millisecond, 60*time.Millisecond)
		}
		p.to(1, 0, 10, waits)
		p.to(3, 10, 20, waits)
		p.to(4, 20, 10, goes, 1)
		p.to(5, 10, 0, waits)
		p.to(100, 0, 0, waits)
		lasts, longest := 95.0, 95.0
		if from > 0 {
			lasts, longest = 20, 20
		}
		res := p.a.Result()
		for _, x := range res.Threads {
			switch x.TID {
			case 10:
				if x.OpenMS != lasts || x.LongestMS != longest || from > 0 && x.Waits != 1 || from == 0 && x.Waits != 2 {
					t.Errorf("from %d: %+v", from, x)
				}
			case 20:
				if from > 0 && x.ReadyMS != 20 || from == 0 && x.ReadyMS != 96 || x.Preempted != 1 {
					t.Errorf("from %d: %+v", from, x)
				}
			}
		}
		list := lines(p.a.Samples()[0])
		if diff := cmp.Diff([]string{"10 [] waiting,UserRequest,[not over] 1 95", "20 [] ready 1 96"}, list[len(list)-2:]); diff != "" {
			t.Errorf("from %d (-want +got):\n%s", from, diff)
		}
		var spans []Span
		for s := range p.a.Spans() {
			if s.By == NotOver {
				spans = append(spans, s)
			}
		}
		if len(spans) != 1 || spans[0].TID != 10 || ms(spans[0].To-spans[0].From) != 95 {
			t.Errorf("%+v", spans)
		}
	}
}

// A number that begins another thread ends the one that had it: nobody knows when that ended.
func TestLostEnd(t *testing.T) {
	p := newPlay(t)
	p.to(1, 0, 10, waits)
	p.to(2, 10, 0, waits)
	p.ready(4, 9, 10, 0)
	p.Event(6*time.Millisecond, 9, &kernel.ThreadStartV3{ProcessID: 4, TThreadID: 10})
	p.to(8, 0, 10, waits)
	p.to(9, 10, 0, waits)
	want := []Thread{
		{PID: -1, TID: 10, LifeMS: 5, Times: Times{RunningMS: 1, UnknownMS: 4}, Switches: 1},
		{PID: 4, TID: 10, LifeMS: 3, Times: Times{RunningMS: 1, ReadyMS: 2}, Switches: 1},
	}
	if diff := cmp.Diff(want, p.a.Result().Threads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Where switches are missing, the thread that was seen last on a processor is not the one that made
// others ready there.
func TestDoubtfulWaker(t *testing.T) {
	for _, left := range []uint32{20, 30} {
		p := newPlay(t)
		p.to(1, 0, 10, waits)
		p.to(3, 10, 20, waits)
		p.ready(7, -1, 10, 0)
		p.to(8, left, 10, waits, 1)
		p.to(9, 10, 0, waits)
		want := map[uint32]string{20: "10 [1] waiting,UserRequest,thread 20 1 4", 30: "10 [1] waiting,UserRequest,[unknown] 1 4"}[left]
		if got := lines(p.a.Samples()[0]); got[0] != want {
			t.Errorf("%q, want %q", got[0], want)
		}
	}
}

// The states of a thread add up to its life, those of processors to theirs, and samples to
// the times of threads; where no event is missing, nothing is unknown, and processors were
// busy as long as threads ran.
func TestCorpus(t *testing.T) {
	traces := 0
	for _, path := range testtrace.All(t) {
		if !strings.HasSuffix(path, ".etl") {
			continue
		}
		var mux etw.Mux
		m := system.Of(&mux)
		usage := system.NewUsage(&mux)
		a := New(&mux)
		testtrace.Run(t, &mux, path)
		samples, res := a.Samples()[0], a.Result()
		if res.Switches == 0 {
			continue
		}
		traces++
		begins := int64(0)
		for i := range a.off {
			if a.off[i].begins {
				begins++
			}
		}
		check(t, testtrace.Name(path), samples, res, begins)
		usage.Settle()
		ran := map[int64]float64{} // of all lives of an id
		for _, x := range m.Threads() {
			ran[x.TID] += usage.RanMS(usage.Of(x))
		}
		for _, x := range res.Threads {
			ran[x.TID] -= x.RunningMS
		}
		for id, rest := range ran {
			if id != 0 && (rest < -1e-3 || res.Gaps == 0 && rest > 1e-3) {
				t.Errorf("%s: thread %d ran for %v ms more by its usage", testtrace.Name(path), id, rest)
			}
		}
		t.Logf("%s: %d switches, %d gaps, %+v, stacks %+v", testtrace.Name(path), res.Switches, res.Gaps, res.Times, a.Stacks())
	}
	t.Logf("%d traces", traces)
}

func check(t *testing.T, name string, samples *stacks.Samples, res *Result, begins int64) {
	t.Helper()
	near := func(what string, a, b float64) {
		if math.Abs(a-b) > 1e-5 {
			t.Errorf("%s: %s: %v, %v", name, what, a, b)
		}
	}
	var sum Times
	for _, x := range res.Threads {
		near(fmt.Sprintf("life of %d", x.TID), x.LifeMS, x.RunningMS+x.ReadyMS+x.WaitingMS+x.UnknownMS)
		if slices.Min([]float64{x.RunningMS, x.ReadyMS, x.WaitingMS, x.UnknownMS}) < 0 {
			t.Errorf("%s: %+v", name, x)
		}
		sum.WaitingMS += x.WaitingMS
	}
	busy, unknown := 0.0, 0.0
	for _, p := range res.Processors {
		near(fmt.Sprintf("span of %d", p.Number), p.SpanMS, p.BusyMS+p.IdleMS+p.UnknownMS)
		busy += p.BusyMS
		unknown += p.UnknownMS
	}
	waited, count := 0.0, int64(0)
	for x := range samples.All() {
		if x.Labels[0].Value == "waiting" {
			waited += ms(x.Values[1])
		}
		count += x.Values[0]
	}
	wants := begins
	for _, x := range res.Threads {
		wants += int64(x.Waits + x.Preempted)
	}
	if count != wants {
		t.Errorf("%s: %d samples, %d waits, preemptions and begins", name, count, wants)
	}
	if res.Readies == 0 {
		near("samples", waited, sum.WaitingMS)
	}
	if res.Gaps == 0 && (unknown > 0 || res.UnknownMS > 0) {
		t.Errorf("%s: %v ms of threads, %v of processors are unknown", name, res.UnknownMS, unknown)
	}
}

// rests are the events of recorders of Linux: a thread goes off its processor, and for how long.
func (p *play) rests(at, rested time.Duration, thread int64, stack byte) {
	p.Stack = testtrace.AStack(stack)
	r := &etw.Record{ProviderName: "Universal.Events", Schema: &etw.EventDesc{Name: "cswitch"},
		Payload: binary.AppendUvarint(nil, uint64(rested)), PointerSize: etw.Ptr64, Clock: &etw.Clock{Frequency: 1e9, Start: 133_000_000_000_000_000}}
	r.ProcessID, r.ThreadID, r.Timestamp, r.Stack = 4, thread, int64(at), p.Stack
	if err := p.mux.Dispatch(r); err != nil {
		panic(err) // it never is
	}
}

func TestLinux(t *testing.T) {
	const ms = time.Millisecond
	p := newPlay(t)
	p.rests(10*ms, 3*ms, 7, 1)
	p.rests(15*ms, 2*ms, 7, 2)              // it ran from 13 to 15
	p.rests(16*ms, 5*ms, 7, 3)              // which is before it was back: from 17 on it counts
	p.rests(22*ms, 5*ms, 0, 3)              // idle
	p.rests(23*ms, 5*ms, -1, 3)             // not known
	p.rests(25*ms, 1*ms, 7, 4)              // it ran from 21 to 25
	p.rests(26*ms, 4*ms, 7, 4)              // which is the same rest
	p.rests(31*ms, math.MaxInt64, 7, 5)     // no file has that
	p.rests(32*ms, 1*ms, 8, 6)              // another thread
	p.rests(29*ms+ms/2, 500*ms/1000, 7, 99) // it was off before
	want := []string{"7 [1] waiting or ready 1 3", "7 [2] waiting or ready 1 2", "7 [3] waiting or ready 1 4", "7 [4] waiting or ready 1 5", "8 [6] waiting or ready 1 1", "7 [99] waiting or ready 1 0"}
	if diff := cmp.Diff(want, lines(p.a.Samples()[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	threads := []Thread{
		{PID: 4, TID: 7, LifeMS: 20, Times: Times{RunningMS: 6, WaitingMS: 14}, Switches: 5, Waits: 5, LongestMS: 5},
		{PID: 4, TID: 8, LifeMS: 1, Times: Times{WaitingMS: 1}, Switches: 1, Waits: 1, LongestMS: 1},
	}
	res := p.a.Result()
	if diff := cmp.Diff(threads, res.Threads); diff != "" || res.Strays != 1 {
		t.Errorf("%d of unknown threads; (-want +got):\n%s", res.Strays, diff)
	}
}

// Of more times off processors than there is room for, the shorter ones are summed up: all sums are as
// they were, and the longest come one by one.
func TestRoom(t *testing.T) {
	play := func(most int, sumsOnly bool) (*Analysis, *Result) {
		p := newPlay(t)
		p.a.most = most
		if sumsOnly {
			p.a.SumsOnly()
		}
		at, on := 1, uint32(10)
		for i := range 400 {
			next := uint32(10 + (i*7+3)%5)
			if i%3 == 0 {
				p.ready(at, int64(on), next, 0)
			}
			p.to(at, on, next, []kernel.ThreadState{waits, goes}[i%2], byte(i%9))
			at, on = at+1+i*i%17, next
		}
		return p.a, p.a.Result()
	}
	sums := func(a *Analysis) map[string][2]int64 {
		all := make(map[string][2]int64)
		for x := range a.Samples()[0].All() {
			k := fmt.Sprint(x.Thread, x.Labels[0].Value)
			all[k] = [2]int64{all[k][0] + x.Values[0], all[k][1] + x.Values[1]}
		}
		return all
	}
	whole, want := play(mostOff, false)
	folded, got := play(64, false)
	check(t, "folded", folded.Samples()[0], got, 2) // two that were made ready before anything else told of them
	if diff := cmp.Diff(sums(whole), sums(folded)); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if got.Folded < 200 || got.FoldedMS <= 0 || len(folded.off) > 64 {
		t.Errorf("%d of %v ms are folded, %d are left", got.Folded, got.FoldedMS, len(folded.off))
	}
	least := time.Duration(math.MaxInt64)
	for _, o := range folded.off[:len(folded.off)/4] {
		least = min(least, time.Duration(o.till-o.from))
	}
	if least < time.Millisecond {
		t.Errorf("one of %v is kept", least)
	}
	got.Folded, got.FoldedMS = 0, 0
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folded (-want +got):\n%s", diff)
	}
	if a, got := play(mostOff, true); len(a.off) != 1 {
		t.Errorf("%d are kept", len(a.off))
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sums only (-want +got):\n%s", diff)
	}
}
