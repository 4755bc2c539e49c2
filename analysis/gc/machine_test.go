package gc

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/google/go-cmp/cmp"
)

// A story is a list of events: "time thread event arguments".
func tell(t *testing.T, text string) *Runtime {
	t.Helper()
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	for line := range strings.Lines(text) {
		var at, thread int64
		var name string
		var x, y, z uint32
		n, _ := fmt.Sscan(line, &at, &thread, &name, &x, &y, &z)
		if n < 3 {
			continue
		}
		var e etw.Event
		switch name {
		case "lost":
			s.Lost += x
			continue
		case "suspend":
			e = &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReason(x)}
		case "ready":
			e = &clr.GCSuspendEEEndV1{}
		case "letgo":
			e = &clr.GCRestartEEBeginV1{}
		case "release":
			e = &clr.GCRestartEEEndV1{}
		case "start":
			e = &clr.GCStartV2{Count: x, Depth: y, Type: clr.GCType(z % 10), Reason: clr.GCReason(z / 10)}
		case "end":
			e = &clr.GCEndV1{Count: x, Depth: y}
		case "stats":
			e = &clr.GCHeapStatsV2{GenerationSize0: uint64(x)}
		case "global":
			e = &clr.GCGlobalHeapHistoryV3{NumHeaps: int32(x), CondemnedGeneration: y}
		case "heap":
			e = &clr.GCPerHeapHistoryV3{HeapIndex: x}
		case "trigger":
			e = &clr.GCTriggered{}
		default:
			t.Fatalf("there is no event %s", name)
		}
		s.Event(time.Duration(at)*time.Millisecond, thread, e)
	}
	checkInvariants(t, a)
	return a.Result().Runtimes[0]
}

// summary shows the main values of the collections, one a line.
func summary(rt *Runtime) string {
	var b strings.Builder
	for _, g := range rt.GCs {
		fmt.Fprintf(&b, "%d %s start %v pause %v suspend %v duration %v heaps %d", g.Number, g.Name, g.StartMS, g.PauseMS, g.SuspendMS, g.DurationMS, len(g.HeapHistories))
		for flag, on := range map[string]bool{" partial": g.Partial, " unfinished": g.Unfinished, " blocking": g.DoneBlocking, " alone": g.SuspensionMissing} {
			if on {
				b.WriteString(flag)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestStories(t *testing.T) {
	for _, test := range []struct{ name, story, want string }{
		{"blocking", `
			0 1 trigger
			1 1 suspend 1
			2 1 ready
			3 1 start 7 0 0
			5 1 global 1 0
			5 1 heap 0
			6 1 end 7 0
			6 1 stats 9
			8 1 release`, `
			7 0N start 1 pause 7 suspend 1 duration 3 heaps 1`},
		{"background with an ephemeral one before it and a foreground one", `
			1 1 suspend 1
			2 1 ready
			3 1 start 1 2 1
			4 1 start 2 0 0
			6 1 end 2 0
			6 1 stats 9
			7 1 release
			10 9 suspend 6
			11 9 ready
			14 9 release
			20 1 suspend 1
			21 1 ready
			22 1 start 3 1 2
			23 1 end 3 1
			23 1 stats 8
			25 1 release
			30 9 global 1 2
			30 9 heap 0
			31 9 end 1 2
			31 9 stats 7`, `
			1 2B start 1 pause 7 suspend 2 duration 28 heaps 1
			2 0N start 4 pause 3 suspend 0 duration 2 heaps 0
			3 1F start 20 pause 5 suspend 1 duration 1 heaps 0`},
		{"background done blocking", `
			1 1 suspend 1
			2 1 ready
			3 1 start 1 2 1
			8 1 end 1 2
			8 1 stats 7
			9 1 release
			10 1 suspend 6
			11 1 release`, `
			1 2B start 1 pause 8 suspend 1 duration 5 heaps 0 blocking`},
		{"server: another thread starts, and histories come late", `
			1 1 suspend 1
			1 5 suspend 0
			2 1 ready
			3 2 start 1 2 1
			4 1 release
			10 3 suspend 6
			12 3 release
			20 3 end 1 2
			20 3 stats 7
			21 3 global 2 2
			21 3 heap 0
			22 3 heap 1`, `
			1 2B start 1 pause 5 suspend - duration 17 heaps 2`},
		{"a second collection begins before all threads stand still", `
			1 1 suspend 1
			3 1 start 1 0 0
			5 1 start 2 0 0
			8 1 ready
			9 1 end 2 0
			9 1 stats 9
			10 1 release`, `
			1 0N start 1 pause 4 suspend 4 duration - heaps 0 unfinished
			2 0N start 5 pause 5 suspend 3 duration 4 heaps 0`},
		{"provisional", `
			1 1 suspend 1
			2 1 ready
			3 1 start 1 1 0
			5 1 end 1 1
			5 1 stats 9
			6 1 start 2 2 120
			9 1 end 2 2
			9 1 stats 8
			10 1 release`, `
			1 1N start 1 pause 5 suspend 1 duration 2 heaps 0
			2 2N start 6 pause 4 suspend 0 duration 3 heaps 0`},
		{"begin of the trace within a collection", `
			1 1 release
			2 2 end 4 1
			3 2 stats 7
			4 5 stats 6`, `
			4  start 2 pause - suspend - duration - heaps 0 partial
			0  start 4 pause - suspend - duration - heaps 0 partial`},
		{"end of the trace within a collection", `
			1 1 suspend 1
			2 1 ready
			3 1 start 1 0 10
			9 1 end 1 0`, `
			1 0NI start 1 pause - suspend - duration 6 heaps 0 unfinished`},
		{"no suspension", `
			3 1 start 1 0 70
			9 1 end 1 0
			9 1 stats 1`, `
			1 0Ni start 3 pause 6 suspend - duration 6 heaps 0 alone`},
		{"the suspension loses its end, and the next one its middle", `
			1 1 suspend 1
			2 1 ready
			3 1 start 1 0 0
			5 1 end 1 0
			5 1 stats 1
			10 1 suspend 1
			12 1 start 2 0 0
			15 1 end 2 0
			15 1 stats 1
			16 1 release`, `
			1 0N start 1 pause 2 suspend - duration 2 heaps 0 alone
			2 0N start 10 pause 6 suspend - duration 3 heaps 0`},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := strings.ReplaceAll(strings.TrimPrefix(test.want, "\n"), "\t", "") + "\n"
			if diff := cmp.Diff(want, summary(tell(t, test.story))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSuspensionsWithoutCollections(t *testing.T) {
	rt := tell(t, `
		1 1 suspend 1
		2 1 letgo
		3 1 release
		4 1 suspend 6
		5 1 release
		6 1 suspend 0
		9 1 release
		9 1 suspend 99
		10 1 release
		11 1 suspend 1
		12 2 ready
		15 3 ready`)
	s := rt.Suspensions
	if rt.PauseMS != 3 || rt.RestartMS != 1 || s.ByReason[1].RestartMS != 1 || s.WithoutGC != 2 || s.WithoutGCMS != 3 || s.Open != 1 || s.OpenMS != 4 || len(s.ByReason) != 4 || s.ByReason[3].Reason != "Unknown" {
		t.Errorf("%+v", rt)
	}
}

// TestLostBetween: an end whose begin is before events that were lost is that of another suspension.
func TestLostBetween(t *testing.T) {
	rt := tell(t, `
		1 1 suspend 1
		2 1 release
		3 1 suspend 1
		4 1 lost 9
		90 1 release
		91 1 suspend 1
		92 1 ready
		93 1 lost 5
		94 1 suspend 1
		97 1 release`)
	if s := rt.Suspensions; rt.PauseMS != 4 || s.LostEnds != 2 || s.LostBegins != 1 || s.ByReason[0].MaxMS != 3 {
		t.Errorf("%+v", rt)
	}
}

func TestBounds(t *testing.T) {
	var story strings.Builder
	for i := range maxOpen + 10 {
		fmt.Fprintf(&story, "1 %d suspend 1\n", i)
	}
	for i := range maxOpen + 10 {
		fmt.Fprintf(&story, "2 %d start %d 0 0\n", maxOpen+5, i+1)
	}
	rt := tell(t, story.String())
	if rt.Suspensions.LostEnds != 10 || rt.Suspensions.Open != maxOpen || rt.Unfinished != maxOpen+10 {
		t.Errorf("%+v", rt.Suspensions)
	}
}

func TestLivesOfAProcess(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	gc := func(at int, instance uint16) {
		s.Event(time.Duration(at), 1, &clr.GCStartV2{Count: 1, ClrInstanceID: instance})
		s.Event(time.Duration(at), 1, &clr.GCEndV1{Count: 1, ClrInstanceID: instance})
		s.Event(time.Duration(at), 1, &clr.GCHeapStatsV1{ClrInstanceID: instance})
	}
	process := func(at int, op etw.Opcode) {
		d := (&lives.ProcessEvent{}).EventDesc()
		s.Record(time.Duration(at), 1, &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: op})
	}
	process(0, 1)
	gc(1, 6)
	gc(2, 7) // another runtime in the same process
	process(3, 3)
	gc(4, 6) // a second begin with the same number: it is no new one
	process(5, 2)
	process(6, 2)
	gc(7, 6)
	var got []string
	for _, rt := range a.Result().Runtimes {
		got = append(got, fmt.Sprint(rt.PID, rt.CLRInstance, rt.Life, rt.Count))
	}
	// The end and the statistics of the ignored begin make partial ones.
	if diff := cmp.Diff([]string{"1 6 0 2", "1 7 0 1", "1 6 1 1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPrivateHistories(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	p := make([]byte, privateGens*privateWords*8+6*4+8+1)
	for i := range privateGens * privateWords {
		binary.LittleEndian.PutUint64(p[8*i:], uint64(i))
	}
	words := p[privateGens*privateWords*8:]
	binary.LittleEndian.PutUint32(words, 0x40003)
	binary.LittleEndian.PutUint32(words[3*4:], 1<<31|4)
	binary.LittleEndian.PutUint32(words[4*4:], 1<<31|2)
	for _, version := range []uint8{2, 0} {
		s.Event(1, 1, &clr.GCStartV1{Count: uint32(version) + 1, Depth: 0})
		s.Event(1, 1, &private.GCGlobalHeapHistoryV1{NumHeaps: 1})
		d := (&private.GCPerHeapHistory{}).EventDesc()
		s.Record(1, 1, &etw.Record{Provider: d.Provider.GUID, ID: d.ID, Version: version, PointerSize: etw.Ptr64, Payload: p})
		s.Event(1, 1, &private.PrvGCMarkStackRootsV1{})
		s.Event(1, 1, &private.PrvGCMarkFinalizeQueueRootsV1{})
		s.Event(1, 1, &private.PrvGCMarkHandlesV1{})
		s.Event(1, 1, &private.PrvGCMarkCardsV1{})
		s.Event(1, 1, &clr.GCMarkHandles{}) // again
		s.Event(1, 1, &clr.GCEndV1{Count: uint32(version) + 1})
		s.Event(1, 1, &clr.GCHeapStatsV1{})
	}
	gcs := a.Result().Runtimes[0].GCs
	h := gcs[0].HeapHistories[0]
	if g := h.Generations[1]; h.Layout != 2 || g.SizeBefore != 10 || g.Out != 17 || g.Budget != 18 || !h.Compacted || !h.Expanded || h.CompactReason == "" || h.ExpandReason == "" || len(gcs[0].Marks) != 4 {
		t.Errorf("%+v, %+v", h, gcs[0].Marks)
	}
	if g := gcs[1].HeapHistories[0].Generations[1]; g.SizeBefore != 10 || g.SizeAfter != 11 || g.Out != 16 || gcs[1].HeapHistories[0].CondemnReasons1 != 4 {
		t.Errorf("%+v", gcs[1].HeapHistories[0])
	}
	if _, _, ok := historyPrivate(p[:100], etw.Ptr64, 2); ok {
		t.Error("a record that is too short is read")
	}
	if _, _, ok := historyPrivate(p, etw.Ptr32, 2); !ok {
		t.Error("a record with small pointers is not read")
	}
}

func TestObjects(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	ms := time.Millisecond
	s.Event(1*ms, 1, &clr.GCStartV2{Count: 1})
	for range 2 {
		s.Event(1*ms, 1, &clr.PinObjectAtGCTime{ObjectID: 100, ObjectSize: 8})
	}
	s.Event(1*ms, 1, &clr.PinObjectAtGCTime{ObjectID: 500, ObjectSize: 16})
	s.Event(1*ms, 1, &private.PinPlugAtGCTime{PlugStart: 90, PlugEnd: 120})
	s.Event(1*ms, 1, &private.PinPlugAtGCTime{PlugStart: 200, PlugEnd: 250})
	s.Event(1*ms, 1, &clr.GCEndV1{Count: 1})
	s.Event(1*ms, 1, &clr.GCHeapStatsV1{})
	s.Event(2*ms, 4, &clr.GCFinalizersEndV1{Count: 5}) // that began before
	s.Event(2*ms, 4, &clr.GCFinalizersBeginV1{})
	s.Event(5*ms, 4, &clr.GCFinalizersEndV1{Count: 7})
	s.Event(5*ms, 4, &clr.FinalizeObject{TypeID: 3})
	rt := a.Result().Runtimes[0]
	if diff := cmp.Diff(&Pinned{Objects: 2, Bytes: 24, PlugBytes: 80, UserPlugBytes: 30}, rt.GCs[0].Pinned); diff != "" {
		t.Errorf("pinned (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&Finalizers{Runs: 2, Count: 12, MS: 3, MaxMS: 3}, rt.Finalizers); diff != "" || rt.FinalizedTypes[0] != (TypeCount{"type 0x3", 1}) {
		t.Errorf("finalizers (-want +got):\n%s%v", diff, rt.FinalizedTypes)
	}
	s.Event(5*ms, 4, &private.PrvFinalizeObject{TypeID: 3, TypeName: etw.MakeUTF16("T")})
	if got := a.Result().Runtimes[0].FinalizedTypes; len(got) != 1 || got[0] != (TypeCount{"T", 1}) {
		t.Errorf("%v", got)
	}
}

func TestWaits(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	ms := time.Millisecond
	s.Event(0, 1, &private.BGCAllocWaitEnd{})
	s.Event(0, 1, &private.BGCAllocWaitBegin{})
	s.Event(50*ms, 1, &private.BGCAllocWaitBegin{}) // the end of the one before was lost
	s.Event(300*ms, 1, &private.BGCAllocWaitEnd{})
	s.Event(300*ms, 1, &private.BGCAllocWaitBegin{})
	s.Event(310*ms, 1, &private.BGCAllocWaitEnd{}) // short
	s.Event(400*ms, 2, &private.BGCAllocWaitBegin{})
	s.Event(700*ms, 3, &private.BGCAllocWaitEnd{})
	got := a.Result().Runtimes[0].AllocWaits
	if len(got) != 2 || got[0].StartMS != 50 || got[0].DurationMS != 250 || !got[1].Unfinished || got[1].DurationMS != 300 {
		t.Errorf("%+v", got)
	}
}

// TestRundownIsNoTime: the rundown of a session is no time of which pauses are a part; if
// another session follows, both count.
func TestRundownIsNoTime(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	session := func(begin time.Duration, want float64) {
		s.Event(begin, 1, &clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC})
		s.Event(begin+10*time.Millisecond, 1, &clr.GCRestartEEEndV1{})
		s.Event(begin+100*time.Millisecond, 2, &rundown.DCEndInitV1{})
		s.Event(begin+400*time.Millisecond, 2, &rundown.GCSettingsRundown{})
		if rt := a.Result().Runtimes[0]; rt.SpanMS != want || rt.PausePercent != measure.Known(100*rt.PauseMS/want) {
			t.Errorf("%v ms, of which pauses are %v %%, want %v", rt.SpanMS, rt.PausePercent, want)
		}
	}
	session(0, 100)
	session(time.Second, 1100)
}

func TestSettings(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Event(0, 1, &rundown.RuntimeInformationDCStart{StartupFlags: rundown.StartupFlags(clr.StartupFlagsServerGC)})
	s.Event(0, 1, &rundown.GCSettingsRundown{BitSettings: 31, HardLimit: 7})
	s.Event(0, 1, &clr.GCAllocationTickV1{AllocationAmount: 9})
	s.Event(0, 1, &clr.GCAllocationTickV1{AllocationAmount: 9, AllocationKind: 77})
	rt := a.Result().Runtimes[0]
	if g := rt.Settings; !g.Concurrent || !g.LargePages || !g.FrozenSegments || !g.HardLimitConfigured || !g.WithoutAffinity || g.HardLimitBytes != 7 {
		t.Errorf("%+v", g)
	}
	if !*rt.ServerGC || rt.TickedMB != 9e-6 {
		t.Errorf("%+v", rt)
	}
}

// Handlers allocate for the data that they keep, and nothing for counts.
func TestHandlersDoNotAllocate(t *testing.T) {
	var mux etw.Mux
	New(&mux)
	record := func(e etw.Event) *etw.Record {
		p := testio.Payload(t, e, etw.Ptr64)
		d := e.EventDesc()
		return &etw.Record{Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, PointerSize: etw.Ptr64, ProcessID: 1, ThreadID: 1, Payload: p}
	}
	records := []*etw.Record{
		record(&clr.GCSuspendEEBeginV1{}), record(&clr.GCSuspendEEEndV1{}), record(&clr.GCRestartEEEndV1{}),
		record(&clr.GCAllocationTickV4{TypeName: etw.MakeUTF16("T")}), record(&clr.GCFinalizersBeginV1{}),
		record(&clr.GCFinalizersEndV1{}), record(&clr.FinalizeObject{TypeID: 1}), record(&clr.GCTriggered{}),
	}
	run := func() {
		for _, r := range records {
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Runtimes before .NET 5 leave out all above the next generation; their data of the time
// before is good.
func TestSizesThatWereNotUpdated(t *testing.T) {
	for _, test := range []struct {
		known, condemned int
		want             []bool
	}{
		{4, 0, []bool{true, true, false, false, false}},
		{4, 1, []bool{true, true, true, false, false}},
		{4, 2, []bool{true, true, true, true, false}},
		{5, 0, []bool{true, true, true, true, true}},
	} {
		h := Heap{Known: test.known}
		h.setUpdated(test.condemned)
		for i, want := range test.want {
			if h.Generations[i].Updated != want {
				t.Errorf("%+v: generation %d is updated: %v", test, i, !want)
			}
		}
	}
	g := HeapGen{SizeBefore: 100, FreeListBefore: 10, FreeObjBefore: 5, SizeAfter: 50, FreeListAfter: 2, FreeObjAfter: 1}
	if g.objectsAfter() != 85 || g.fragmentation() != 15 {
		t.Errorf("objects %d, fragmentation %d", g.objectsAfter(), g.fragmentation())
	}
	g.Updated = true
	if g.objectsAfter() != 47 || g.fragmentation() != 3 || sub(1, 2) != 0 {
		t.Errorf("objects %d, fragmentation %d", g.objectsAfter(), g.fragmentation())
	}
}

func TestSuspensionDuringABackgroundCollection(t *testing.T) {
	rt := tell(t, `
		1 1 suspend 1
		2 1 ready
		3 1 start 1 2 1
		4 1 release
		5 1 suspend 1
		9 1 release
		10 2 suspend 6
		12 2 release
		13 2 end 1 2
		13 2 stats 7`)
	if p := rt.GCs[0].PauseMS.Or(0); p != 5 || rt.Suspensions.WithoutGC != 1 || rt.Suspensions.WithoutGCMS != 4 || rt.GCs[0].FinalPauseMS.Or(0) != 2 {
		t.Errorf("%+v", rt)
	}
}

// A suspension in which nothing was collected is no pause of a collection: shares and
// rates go from the last one that was.
func TestTimeSinceTheLastPause(t *testing.T) {
	rt := tell(t, `
		10 1 suspend 1
		11 1 ready
		12 1 start 1 0 0
		13 1 end 1 0
		13 1 stats 9
		20 1 release
		100 1 suspend 1
		109 1 release
		110 1 suspend 1
		111 1 ready
		112 1 start 2 0 0
		113 1 end 2 0
		113 1 stats 9
		120 1 release`)
	if v := rt.GCs[1].PausePercent; v != measure.Known(10) {
		t.Errorf("the pause of 10 in the 100 since the last is %v %%", v)
	}
}

// The free space is of the size that HeapStats gives, as the size after is.
func TestFragmentationOfTheSizeAfter(t *testing.T) {
	c := &collection{statsSeen: true, generation: 2, heaps: []Heap{{Known: generations}}}
	h := &c.heaps[0].Generations[0]
	h.SizeAfter, h.FreeListAfter, h.Updated = 100, 40, true
	c.stats.size[0] = 160
	var row GenerationSizes
	(*view)(nil).survival(&row, c, c.sum(0), 0)
	if row.FragmentationPercent != measure.Known(25) {
		t.Errorf("40 of 160 are %v %%", row.FragmentationPercent)
	}
}
