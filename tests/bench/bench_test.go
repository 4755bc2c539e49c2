// Package bench measures what generated code costs against what one would write
// by hand, in the same run:
//
//	go test ./tests/bench -bench .
//	ETWGEN_BENCH=1 go test ./tests/bench -run Ratios -v
package bench

import (
	"os"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

var sink uint64

// A contest is a way to do something, and what it is held against.
type contest struct {
	name         string
	payload      []byte
	bench, rival func(b *testing.B, p []byte)
	rivalName    string
	limit        string
}

func payload(t testing.TB, e etw.Event) []byte {
	t.Helper()
	p, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		t.Fatal(err)
	}
	return p
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
		{"GCStartV1", gcStart(t), genGCStart, byHandGCStart, "by hand", "1.10"},
		{"GCHeapStatsV1 (14 fields)", gcHeapStats(t), genGCHeapStats, byHandGCHeapStats, "by hand", "1.10"},
		{"MethodLoadVerboseV1", methodLoadVerbose(t), genMethodLoadVerbose, byHandMethodLoadVerbose, "by hand", "1.15"},
		{"BulkType of 32, iterated", bulkType(t), genBulkType, byHandBulkType, "by hand", "1.15"},
		{"dynamic GCStartV1", gcStart(t), dynamicOf(new(clr.GCStartV1)), genGCStart, "generated", "8"},
		{"dynamic GCHeapStatsV1", gcHeapStats(t), dynamicOf(new(clr.GCHeapStatsV1)), genGCHeapStats, "generated", "8"},
		{"dynamic MethodLoadVerboseV1", methodLoadVerbose(t), dynamicOf(new(clr.MethodLoadVerboseV1)), genMethodLoadVerbose, "generated", "8"},
		{"dynamic BulkType", bulkType(t), dynamicOf(new(clr.BulkType)), genBulkType, "generated", "8"},
		{"dispatch of GCStartV1", gcStart(t), dispatchGCStart, genGCStart, "decode", "+10 ns"},
		{"dispatch of AnyGCStart", gcStart(t), dispatchAnyGCStart, genGCStart, "decode", ""},
	}
}

func Benchmark(b *testing.B) {
	for _, c := range contests(b) {
		run := func(name string, f func(*testing.B, []byte)) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(c.payload)))
				b.ReportAllocs()
				f(b, c.payload)
			})
		}
		run("ours", c.bench)
		run(c.rivalName, c.rival)
	}
}

// TestRatios prints how the contests end. It takes the best of several short
// runs of each side, in turn, so that noise of the machine hits both.
func TestRatios(t *testing.T) {
	if os.Getenv("ETWGEN_BENCH") == "" {
		t.Skip("set ETWGEN_BENCH=1 to measure")
	}
	for _, c := range contests(t) {
		ours, rival := 1e9, 1e9
		for range 12 {
			ours = min(ours, nanoseconds(c.bench, c.payload))
			rival = min(rival, nanoseconds(c.rival, c.payload))
		}
		t.Logf("%-30s %7.1f ns, %-9s %7.1f ns: %5.2f times, %+.1f ns (limit %s)",
			c.name, ours, c.rivalName, rival, ours/rival, ours-rival, c.limit)
	}
}

func nanoseconds(f func(*testing.B, []byte), p []byte) float64 {
	r := testing.Benchmark(func(b *testing.B) { f(b, p) })
	return float64(r.T.Nanoseconds()) / float64(r.N)
}

func genGCStart(b *testing.B, p []byte) {
	var e clr.GCStartV1
	for b.Loop() {
		n, err := e.DecodePayload(p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func byHandGCStart(b *testing.B, p []byte) {
	var e handGCStart
	for b.Loop() {
		n, err := e.decode(p)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func genGCHeapStats(b *testing.B, p []byte) {
	var e clr.GCHeapStatsV1
	for b.Loop() {
		n, err := e.DecodePayload(p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func byHandGCHeapStats(b *testing.B, p []byte) {
	var e handGCHeapStats
	for b.Loop() {
		n, err := e.decode(p)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func genMethodLoadVerbose(b *testing.B, p []byte) {
	var e clr.MethodLoadVerboseV1
	for b.Loop() {
		n, err := e.DecodePayload(p, etw.Ptr64)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func byHandMethodLoadVerbose(b *testing.B, p []byte) {
	var e handMethodLoadVerbose
	for b.Loop() {
		n, err := e.decode(p)
		if err != nil {
			b.Fatal(err)
		}
		sink += uint64(n)
	}
}

func genBulkType(b *testing.B, p []byte) {
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

func byHandBulkType(b *testing.B, p []byte) {
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

func dispatchGCStart(b *testing.B, p []byte) {
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

func dispatchAnyGCStart(b *testing.B, p []byte) {
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		sink += uint64(e.Count)
		return nil
	})
	dispatch(b, &mux, p)
}

func dispatch(b *testing.B, mux *etw.Mux, p []byte) {
	r := etw.Record{Kind: etw.Manifest, Provider: clr.Provider.Desc.GUID, ID: 1, Version: 1, PointerSize: etw.Ptr64, Payload: p}
	for b.Loop() {
		if err := mux.Dispatch(&r); err != nil {
			b.Fatal(err)
		}
	}
}
