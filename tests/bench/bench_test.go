// Package bench measures generated code against hand-written code, in the same run:
//
//	go test ./tests/bench -bench Event -count 10 | tee bench.txt
//	go run golang.org/x/perf/cmd/benchstat@latest -col /by bench.txt
package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

var sink uint64

// A contest is one event, and the ways to get at it.
type contest struct {
	event   string
	payload []byte
	sides   []side
}

// A side is a way to decode an event, in the loop of a benchmark.
type side struct {
	by  string
	run func(b *testing.B, payload []byte)
}

func payload(t testing.TB, e etw.Event) []byte {
	t.Helper()
	return testio.Payload(t, e, etw.Ptr64)
}

func gcStart(t testing.TB) []byte {
	return payload(t, &clr.GCStartV1{Count: 7, Depth: 2, Reason: clr.GCReasonInduced, ClrInstanceID: 9})
}

func gcHeapStats(t testing.TB) []byte {
	return payload(t, &clr.GCHeapStatsV1{GenerationSize0: 1 << 20, GCHandleCount: 5, ClrInstanceID: 9})
}

func methodLoadVerbose(t testing.TB) []byte {
	return payload(t, &clr.MethodLoadVerboseV1{
		MethodID: 1, ModuleID: 2, MethodStartAddress: 3, MethodSize: 4,
		MethodNamespace: etw.MakeUTF16("System.Collections.Generic.Dictionary`2[System.__Canon]"),
		MethodName:      etw.MakeUTF16("TryInsert"),
		MethodSignature: etw.MakeUTF16("instance bool  (!0,!1,value class System.Collections.Generic.InsertionBehavior)"),
		ClrInstanceID:   9,
	})
}

func bulkType(t testing.TB) []byte {
	var vs []clr.BulkTypeValue
	for i := range 32 {
		v := clr.BulkTypeValue{TypeID: uint64(i), ModuleID: 2, Name: etw.MakeUTF16("System.Collections.Generic.List`1")}
		if i%4 == 0 {
			v.TypeParameterCount, v.TypeParameters = 1, etw.MakeInts[uint64](17)
		}
		vs = append(vs, v)
	}
	values, err := clr.MakeBulkTypeValues(etw.Ptr64, vs...)
	if err != nil {
		t.Fatal(err)
	}
	return payload(t, &clr.BulkType{Count: 32, ClrInstanceID: 9, Values: values})
}

func contests(t testing.TB) []contest {
	return []contest{
		{"GCStartV1", gcStart(t), []side{
			{"hand", handGCStartLoop},
			{"generated", generatedGCStart},
			{"generated-any", generatedAnyGCStart},
			{"mux", muxGCStart},
			{"mux-any", muxAnyGCStart},
			{"dynamic", dynamicOf(new(clr.GCStartV1))},
		}},
		{"GCHeapStatsV1", gcHeapStats(t), []side{
			{"hand", handGCHeapStatsLoop},
			{"generated", generatedGCHeapStats},
			{"dynamic", dynamicOf(new(clr.GCHeapStatsV1))},
		}},
		{"MethodLoadVerboseV1", methodLoadVerbose(t), []side{
			{"hand", handMethodLoadVerboseLoop},
			{"generated", generatedMethodLoadVerbose},
			{"dynamic", dynamicOf(new(clr.MethodLoadVerboseV1))},
		}},
		{"BulkType-32", bulkType(t), []side{
			{"hand", handBulkTypeLoop},
			{"generated", generatedBulkType},
			{"dynamic", dynamicOf(new(clr.BulkType))},
		}},
	}
}

// BenchmarkEvent has names by which benchstat puts the sides beside each other.
func BenchmarkEvent(b *testing.B) {
	for _, c := range contests(b) {
		for _, s := range c.sides {
			b.Run(fmt.Sprintf("%s/by=%s", c.event, s.by), func(b *testing.B) {
				b.SetBytes(int64(len(c.payload)))
				b.ReportAllocs()
				s.run(b, c.payload)
			})
		}
	}
}

// TestSides checks that the rivals do the same work: they find the same in a payload as
// generated code, and both refuse it when a byte is missing.
func TestSides(t *testing.T) {
	var start clr.GCStartV1
	var handStart handGCStart
	compare(t, gcStart(t), &start, &handStart)
	if handStart != (handGCStart{start.Count, start.Depth, uint32(start.Reason), uint32(start.Type), start.ClrInstanceID}) {
		t.Errorf("%+v by hand, %v", handStart, &start)
	}

	var stats clr.GCHeapStatsV1
	var handStats handGCHeapStats
	compare(t, gcHeapStats(t), &stats, &handStats)
	if handStats.GenerationSize0 != stats.GenerationSize0 || handStats.GCHandleCount != stats.GCHandleCount || handStats.ClrInstanceID != stats.ClrInstanceID {
		t.Errorf("%+v by hand, %v", handStats, &stats)
	}

	var load clr.MethodLoadVerboseV1
	var handLoad handMethodLoadVerbose
	compare(t, methodLoadVerbose(t), &load, &handLoad)
	if handLoad.MethodSize != load.MethodSize || string(handLoad.MethodName) != string(load.MethodName) ||
		string(handLoad.MethodSignature) != string(load.MethodSignature) || handLoad.ClrInstanceID != load.ClrInstanceID {
		t.Errorf("%+v by hand, %v", handLoad, &load)
	}

	var bulk clr.BulkType
	var handBulk handBulkType
	compare(t, bulkType(t), &bulk, &handBulk)
	var names, handNames []string
	for v := range bulk.Values.All() {
		names = append(names, fmt.Sprint(v.TypeID, []byte(v.Name), v.TypeParameters.Len()))
	}
	for v := range handBulk.each {
		handNames = append(handNames, fmt.Sprint(v.TypeID, v.Name, len(v.TypeParameters)/8))
	}
	if len(names) != 32 || !slices.Equal(names, handNames) {
		t.Errorf("%v by hand, %v", handNames, names)
	}
}

func compare(t *testing.T, p []byte, e etw.Event, hand interface{ decode([]byte) (int, error) }) {
	t.Helper()
	if _, err := e.DecodePayload(p[:len(p)-1], etw.Ptr64); err == nil {
		t.Errorf("%T takes a payload that is cut off", e)
	}
	if _, err := hand.decode(p[:len(p)-1]); err == nil {
		t.Errorf("%T takes a payload that is cut off", hand)
	}
	n, err := e.DecodePayload(p, etw.Ptr64)
	m, handErr := hand.decode(p)
	if err != nil || handErr != nil || n != len(p) || m != n {
		t.Errorf("%T reads %d bytes, %v; by hand %d, %v", e, n, err, m, handErr)
	}
}

func generatedGCStart(b *testing.B, p []byte) {
	var e clr.GCStartV1
	for b.Loop() {
		n, err := e.DecodePayload(p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func generatedAnyGCStart(b *testing.B, p []byte) {
	var e clr.AnyGCStart
	for b.Loop() {
		n, err := e.DecodeVersion(1, p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func handGCStartLoop(b *testing.B, p []byte) {
	var e handGCStart
	for b.Loop() {
		n, err := e.decode(p)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func generatedGCHeapStats(b *testing.B, p []byte) {
	var e clr.GCHeapStatsV1
	for b.Loop() {
		n, err := e.DecodePayload(p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func handGCHeapStatsLoop(b *testing.B, p []byte) {
	var e handGCHeapStats
	for b.Loop() {
		n, err := e.decode(p)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func generatedMethodLoadVerbose(b *testing.B, p []byte) {
	var e clr.MethodLoadVerboseV1
	for b.Loop() {
		n, err := e.DecodePayload(p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func handMethodLoadVerboseLoop(b *testing.B, p []byte) {
	var e handMethodLoadVerbose
	for b.Loop() {
		n, err := e.decode(p)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func generatedBulkType(b *testing.B, p []byte) {
	var e clr.BulkType
	for b.Loop() {
		if _, err := e.DecodePayload(p, etw.Ptr64); err != nil {
			b.Fatal(err)
		}
		for v := range e.Values.All() {
			sink += v.TypeID + uint64(len(v.Name)) + uint64(v.TypeParameters.Len())
		}
	}
}

func handBulkTypeLoop(b *testing.B, p []byte) {
	var e handBulkType
	for b.Loop() {
		if _, err := e.decode(p); err != nil {
			b.Fatal(err)
		}
		for v := range e.each {
			sink += v.TypeID + uint64(len(v.Name)) + uint64(len(v.TypeParameters)/8)
		}
	}
}

func dynamicOf(e etw.Event) func(*testing.B, []byte) {
	return func(b *testing.B, p []byte) {
		var d etw.Dynamic
		desc := e.EventDesc()
		for b.Loop() {
			n, err := d.Decode(desc, p, etw.Ptr64)
			if err != nil {
				b.Fatal(err)
			}
			sink += uint64(n)
		}
	}
}

func muxGCStart(b *testing.B, p []byte) {
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.GCStartV1) error {
		sink += uint64(e.Count)
		return nil
	})
	// Handlers beside it, as programs have them.
	etw.Handle(&mux, func(*etw.Record, *clr.AnyGCEnd) error { return nil })
	etw.Handle(&mux, func(*etw.Record, *clr.MethodLoadVerboseV1) error { return nil })
	dispatch(b, &mux, p)
}

func muxAnyGCStart(b *testing.B, p []byte) {
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		sink += uint64(e.Count)
		return nil
	})
	dispatch(b, &mux, p)
}

func dispatch(b *testing.B, mux *etw.Mux, p []byte) {
	r := etw.Record{Kind: etw.KindManifest, Provider: clr.Provider.Desc.GUID, ID: 1, Version: 1, PointerSize: etw.Ptr64, Payload: p}
	for b.Loop() {
		if err := mux.Dispatch(&r); err != nil {
			b.Fatal(err)
		}
	}
}
