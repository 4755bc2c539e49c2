package threads

import (
	"math"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// on is a switch on a processor, from a thread that waits then.
func on(p *play, cpu, ms int, from, to uint32) {
	e := &kernel.ThreadCSwitchV4{OldThreadID: from, NewThreadID: to, OldThreadState: waits, OldThreadWaitReason: kernel.WaitReasonUserRequest}
	r := etw.Record{Kind: etw.KindClassic, Provider: e.EventDesc().Class, Opcode: 36, Version: 4, Processor: int32(cpu), PointerSize: etw.Ptr64}
	r.Payload, _ = e.AppendPayload(nil, r.PointerSize)
	p.Record(time.Duration(ms)*time.Millisecond, -1, &r)
}

// A wait that no event ends is known up to the time in which events of a processor are missing: the
// thread may have been made ready then.
func TestOpenWaitInTheDark(t *testing.T) {
	for _, x := range []struct {
		lacks window.Lacks
		want  Times
		open  float64
	}{
		{window.Lacks{}, Times{RunningMS: 1, WaitingMS: 17}, 17},
		{window.Lacks{Any: true}, Times{RunningMS: 1, WaitingMS: 1, UnknownMS: 16}, 1},
	} {
		p := newPlay(t)
		on(p, 0, 1, 0, 10)
		on(p, 0, 2, 10, 0)
		on(p, 1, 3, 0, 30)
		on(p, 1, 9, 40, 0) // 30 went, and 40 came, which is lost
		on(p, 0, 19, 0, 0)
		window.Of(p.mux).Lack(x.lacks)
		for _, of := range p.a.Result().Threads {
			if of.TID == 10 && (of.Times != x.want || of.OpenMS != x.open) {
				t.Errorf("%+v: %+v, open %v; want %+v, %v", x.lacks, of.Times, of.OpenMS, x.want, x.open)
			}
		}
	}
}

// Where a trace lacks a part of the recording, a thread may have run on each processor that has no
// events: at the begin, at the end, and where another thread leaves it than the one that came.
func TestDark(t *testing.T) {
	for _, x := range []struct {
		lacks window.Lacks
		want  Times // of thread 10
		dark  float64
		rows  int // that are known
	}{
		{window.Lacks{}, Times{RunningMS: 4, ReadyMS: 8, WaitingMS: 6}, 0, 2},
		{window.Lacks{Any: true}, Times{RunningMS: 4, ReadyMS: 5, WaitingMS: 3, UnknownMS: 6}, 5, 1},
		{window.Lacks{Any: true, Begin: true}, Times{RunningMS: 4, WaitingMS: 3, UnknownMS: 11}, 12, 0},
		{window.Lacks{Any: true, Processors: 2}, Times{RunningMS: 4, ReadyMS: 5, WaitingMS: 3, UnknownMS: 6}, 5, 1},
		{window.Lacks{Any: true, Processors: 3}, Times{RunningMS: 4, UnknownMS: 14}, 19, 0}, // one of which there is nothing
		{window.Lacks{Processors: 3}, Times{RunningMS: 4, ReadyMS: 8, WaitingMS: 6}, 0, 2},
		{window.Lacks{Any: true, End: true}, Times{RunningMS: 4, ReadyMS: 5, UnknownMS: 9}, 8, 1},
	} {
		p := newPlay(t)
		on(p, 0, 1, 0, 10)
		on(p, 0, 2, 10, 0)
		p.ready(2, 9, 10, 0)
		on(p, 1, 7, 20, 30) // its first
		on(p, 0, 7, 0, 10)
		on(p, 0, 9, 10, 0)
		on(p, 1, 9, 30, 40)
		p.ready(12, 9, 10, 0)
		on(p, 1, 14, 50, 0) // 40 went, and 50 came, which is lost
		on(p, 0, 15, 0, 10)
		on(p, 0, 16, 10, 0)
		on(p, 1, 16, 0, 0)
		on(p, 0, 19, 0, 0)
		window.Of(p.mux).Lack(x.lacks)
		res := p.a.Result()
		var got Thread
		for _, of := range res.Threads {
			if of.TID == 10 {
				got = of
			}
		}
		if got.Times != x.want || res.DarkMS != x.dark {
			t.Errorf("%+v: %+v, dark %v; want %+v, %v", x.lacks, got.Times, res.DarkMS, x.want, x.dark)
		}
		var sum int64
		for s := range p.a.Samples()[0].All() {
			if s.Thread == 10 {
				sum += s.Values[1]
			}
		}
		if want := x.want.ReadyMS + x.want.WaitingMS; ms(sum) != want {
			t.Errorf("%+v: samples of %v ms, want %v", x.lacks, ms(sum), want)
		}
		known := 0
		for _, s := range p.a.Switches(func(t *system.Thread) bool { return t.TID == 10 }) {
			if _, ok := s.readyMS().Get(); ok {
				known++
			}
		}
		if known != x.rows {
			t.Errorf("%+v: %d rows, want %d", x.lacks, known, x.rows)
		}
	}
}

// Of a begin that was overwritten only the end is known; and a rest without an end is unknown from the
// dark on, also in a window after that.
func TestLit(t *testing.T) {
	begin := []span{{math.MinInt64, 10}}
	for _, x := range []struct{ from, to, until, lit int64 }{{5, 20, 5, 10}, {10, 20, 20, 10}, {-5, 5, -5, 0}} {
		if end, n := until(begin, x.from, x.to), lit(begin, x.from, x.to); end != x.until || n != x.lit {
			t.Errorf("%+v: %d, %d", x, end, n)
		}
	}
	var mux etw.Mux
	window.Of(&mux).Between(time.Unix(0, 12), time.Unix(0, 16))
	a := New(&mux)
	if not, sure := a.known(begin, 5, 20, false), a.known(begin, 5, 20, true); not != 0 || sure != 4 {
		t.Errorf("in a window %d, and %d if it is sure", not, sure)
	}
}
