package lives

import (
	"math"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestTable(t *testing.T) {
	var table Table[int]
	clock := &etw.Clock{Origin: 100, Frequency: 1000}
	at := func(pid int64, clr uint16, ts int64) *Runtime[int] {
		return table.At(&etw.Record{ProcessID: pid, Timestamp: ts, Clock: clock}, clr)
	}
	at(2, 1, 150).State = 7
	if rt := at(2, 1, 160); rt.State != 7 || rt.Span() != 10 || rt.MS(rt.Span()) != 10 || rt.At(rt.Now) != 60 || rt.Origin() != 100 {
		t.Errorf("%+v", rt)
	}
	at(1, 3, 150)
	bare := table.Of(&etw.Record{ProcessID: 2, Timestamp: 170, Clock: clock})
	if bare.CLR != 1 || bare.Now != 170 || table.Of(&etw.Record{ProcessID: 5}).CLR != 0 {
		t.Errorf("%+v", bare)
	}
	table.cut(2)
	table.cut(77)
	if rt := at(2, 1, 180); rt.State != 0 || rt.Life != 1 {
		t.Errorf("%+v", rt)
	}
	all := table.All()
	if len(all) != 4 || all[0].PID != 1 || all[2].Life != 1 || all[3].PID != 5 {
		t.Errorf("%+v", all)
	}
}

func TestTimesDoNotGoBack(t *testing.T) {
	var table Table[int]
	clock := &etw.Clock{Origin: math.MaxInt64, Frequency: 1e9}
	at := func(ts int64, c *etw.Clock) *Runtime[int] {
		return table.At(&etw.Record{Timestamp: ts, Clock: c}, 0)
	}
	at(1000, clock)
	if rt := at(500, clock); rt.Now != 1000 || rt.Late != 1 {
		t.Errorf("%+v", rt)
	}
	if rt := at(math.MaxInt64, clock); rt.Span() != maxSpan {
		t.Errorf("a span of %d", rt.Span())
	}
	if ms := table.All()[0].At(math.MinInt64); ms > -1e12 {
		t.Errorf("%v ms", ms)
	}
	// A record of another file has another clock.
	var other Table[int]
	one, two := &etw.Clock{Frequency: 1000}, &etw.Clock{Frequency: 1e7}
	other.At(&etw.Record{Timestamp: 5, Clock: one}, 0)
	if rt := other.At(&etw.Record{Timestamp: 1e7, Clock: two}, 0); rt.Now != 1000 {
		t.Errorf("%d", rt.Now)
	}
	var none Table[int]
	if rt := none.At(&etw.Record{Timestamp: 1e7}, 0); rt.At(rt.Now) != 1000 {
		t.Errorf("without a clock %v ms", rt.At(rt.Now))
	}
}

func TestProcessEvent(t *testing.T) {
	e := &ProcessEvent{}
	if n, err := e.DecodeVersion(3, []byte{1}, etw.Ptr64); n != 0 || err != nil || e.FieldValue(0).Kind() != etw.ValueNone || e.EventDesc() != e.EventDescs()[0] {
		t.Error(n, err)
	}
}

// The end of a process, its begin, and a runtime that tells of itself again each
// end a life.
func TestWatch(t *testing.T) {
	var mux etw.Mux
	var table Table[int]
	table.Watch(&mux)
	On(&table, &mux, func(rt *Runtime[int], _ *etw.Record, _ *clr.GCTriggered) { rt.State++ })
	OnBare(&table, &mux, func(rt *Runtime[int], _ *etw.Record, _ *clr.ExceptionThrownStop) { rt.State += 100 })
	s := testtrace.NewScript(t, &mux)
	process := func(op etw.Opcode) {
		s.Record(0, 1, &etw.Record{Kind: etw.KindClassic, Provider: processClass, Opcode: op})
	}
	process(processStart)
	s.Event(0, 1, &clr.RuntimeInformationStart{ClrInstanceID: 6})
	s.Event(0, 1, &clr.GCTriggered{ClrInstanceID: 6})
	s.Event(0, 1, &clr.ExceptionThrownStop{})
	process(3) // it was there before the session
	s.Event(0, 1, &clr.GCTriggered{ClrInstanceID: 6})
	process(processStop)
	s.Event(0, 1, &clr.GCTriggered{ClrInstanceID: 6})
	s.Event(0, 1, &clr.RuntimeInformationStart{ClrInstanceID: 6})
	s.Event(0, 1, &clr.RuntimeInformationStart{ClrInstanceID: 6})
	s.Event(0, 1, &clr.GCTriggered{ClrInstanceID: 6})
	var got []int
	for _, rt := range table.All() {
		got = append(got, rt.State)
	}
	if !slices.Equal(got, []int{102, 1, 1}) {
		t.Errorf("%v", got)
	}
}

func TestOfProcess(t *testing.T) {
	var table Table[int]
	count := func(pid int64) (n int) {
		for range table.OfProcess(pid) {
			n++
		}
		return n
	}
	at := func(pid int64, clr uint16) { table.At(&etw.Record{ProcessID: pid}, clr) }
	at(1, 1)
	at(2, 1)
	if count(1) != 1 || count(2) != 1 || count(3) != 0 {
		t.Error(count(1), count(2), count(3))
	}
	at(1, 2)
	at(1, 3)
	if count(1) != 3 || count(2) != 1 {
		t.Error(count(1), count(2))
	}
	for range table.OfProcess(1) {
		break
	}
	n := 0
	for range table.OfProcess(1) {
		if n++; n == 2 {
			break
		}
	}
	table.cut(1)
	if n != 2 || count(1) != 0 {
		t.Error(n, count(1))
	}
}

// A trace that claims more processes and runtimes than there can be takes memory
// in proportion to its records.
func TestLimits(t *testing.T) {
	var many Table[int]
	for i := range 1 << 16 {
		many.At(&etw.Record{ProcessID: 1}, uint16(i)).State++
	}
	all := many.All()
	if n := len(all); n != maxSiblings+1 || all[n-1].CLR != restCLR || all[n-1].State != 1<<16-maxSiblings {
		t.Errorf("%d runtimes, the last is %+v", n, all[n-1])
	}
	var wide Table[int]
	const pids = 1 << 17
	sum := 0
	for i := range int64(pids) {
		wide.At(&etw.Record{ProcessID: i}, 0).State++
	}
	all = wide.All()
	for _, rt := range all {
		sum += rt.State
	}
	if n := len(all); n > maxRuntimes+pids/recordsEach+1 || all[0].PID != -1 || sum != pids {
		t.Errorf("%d runtimes with %d records, the first is %+v", n, sum, all[0])
	}
	wide.cut(5)
	if rt := wide.At(&etw.Record{ProcessID: pids + 1}, 0); rt.PID != -1 {
		t.Errorf("%+v", rt)
	}
}
