package activities

import (
	"encoding/binary"
	"math/rand/v2"
	memory "runtime"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// shop plays requests that await once, each on two threads of a pool.
type shop struct {
	*testtrace.Script
	at          time.Duration
	start, stop *etw.EventDesc
}

func newShop(tb testing.TB, mux *etw.Mux) *shop {
	return &shop{Script: testtrace.NewScript(tb, mux),
		start: &etw.EventDesc{Name: "RequestStart", TaskName: "Request"}, stop: &etw.EventDesc{Name: "RequestStop", TaskName: "Request"}}
}

func (s *shop) library(thread int64, d *etw.EventDesc, payload []byte) {
	s.at += time.Microsecond
	s.Record(s.at, thread, &etw.Record{Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Kind: etw.KindManifest, PointerSize: etw.Ptr64, Payload: payload})
}

func (s *shop) worksFor(thread int64, id etw.GUID) {
	s.library(thread, taskEvents[len(taskEvents)-1], id[:])
}

func (s *shop) source(thread int64, d *etw.EventDesc, op etw.Opcode, id etw.GUID) {
	s.at += time.Microsecond
	s.Activity = id
	s.Record(s.at, thread, &etw.Record{ProviderName: "Shop", Schema: d, Kind: etw.KindManifest, Opcode: op, PointerSize: etw.Ptr64})
	s.Activity = etw.GUID{}
}

// request plays one, of which the last stop may be missing.
func (s *shop) request(n uint32, stops bool) {
	id := actid.Make(1, 0xf0, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	a, b := int64(10+n%7), int64(20+n%5)
	s.worksFor(a, id)
	s.source(a, s.start, etw.OpcodeStart, id)
	s.at += 20 * time.Microsecond
	item := binary.LittleEndian.AppendUint64(nil, uint64(n%3))
	s.library(a, poolEvents[0], item)
	s.worksFor(a, etw.GUID{})
	s.library(b, poolEvents[1], item)
	s.worksFor(b, id)
	s.at += 30 * time.Microsecond
	if !stops {
		return
	}
	s.worksFor(b, etw.GUID{})
	s.source(b, s.stop, etw.OpcodeStop, id)
}

// TestParts: of a request that a thread begins, queues, and another one ends.
func TestParts(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := newShop(t, &mux)
	var x *Activity
	a.OnSpan(func(_ int64, span Span) { x = span.Of })
	s.request(1, true)
	if x == nil || !x.Over || x.Causes == nil {
		t.Fatalf("%+v", x)
	}
	var got []string
	for _, p := range x.Causes.Path {
		got = append(got, p.Kind.String())
	}
	want := [Kinds]int64{Running: x.End - x.Begin - 3000, Queued: 3000}
	if len(got) != 3 || got[0] != "running" || got[1] != "queued" || got[2] != "running" || x.Causes.Spent != want {
		t.Errorf("%v, %v, want %v", got, x.Causes.Spent, want)
	}
}

// TestMoved: of .NET Core 3.1 the number of an item is its address, which a collection changes. It is
// found by the activity: another one's is not it.
func TestMoved(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := newShop(t, &mux)
	seen := map[*Activity]bool{}
	a.OnSpan(func(_ int64, span Span) { seen[span.Of] = true })
	item := func(at uint64) []byte { return binary.LittleEndian.AppendUint64(nil, at) }
	for n := range int64(2) {
		id := actid.Make(1, 0xf0, byte(n))
		s.worksFor(n+1, id)
		s.source(n+1, s.start, etw.OpcodeStart, id)
		s.library(n+1, poolEvents[0], item(0x7f0000001000+uint64(n)<<8))
		s.worksFor(n+1, etw.GUID{})
		s.at += 30 * time.Millisecond
	}
	for n := range int64(2) {
		id := actid.Make(1, 0xf0, byte(1-n)) // the second one first
		s.library(n+5, poolEvents[1], item(0x7f0000800000+uint64(n)<<8))
		s.worksFor(n+5, id)
		s.at += time.Millisecond
		s.worksFor(n+5, etw.GUID{})
		s.source(n+5, s.stop, etw.OpcodeStop, id)
	}
	if len(seen) != 2 {
		t.Fatalf("%d activities", len(seen))
	}
	for x := range seen {
		c := x.Causes
		if c == nil || float64(c.Spent[Queued]) < 0.9*float64(x.End-x.Begin-1e6) || c.Spent[Awaiting] != 0 {
			t.Errorf("%+v of %d", c, x.End-x.Begin)
		}
	}
}

// TestBelt: of a request that awaits consumers one after the other, which work for nobody.
func TestBelt(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := newShop(t, &mux)
	var x *Activity
	a.OnSpan(func(_ int64, span Span) { x = span.Of })
	id := actid.Make(1, 0x10)
	s.worksFor(1, id)
	s.source(1, s.start, etw.OpcodeStart, id)
	for n := range int64(6) {
		s.at += 10 * time.Microsecond
		item := binary.LittleEndian.AppendUint64(nil, uint64(n))
		s.library(n+1, poolEvents[0], item)
		s.worksFor(n+1, etw.GUID{})
		s.at += 5 * time.Microsecond
		s.library(n+2, poolEvents[1], item)
	}
	s.worksFor(7, id)
	s.source(7, s.stop, etw.OpcodeStop, id)
	var got [Kinds]int64
	for _, p := range x.Causes.Path {
		got[p.Kind] += p.To - p.From
	}
	// What let the first of five consumers begin is not kept any more, so that is awaited.
	if want := [Kinds]int64{Running: 13000, Queued: 8000 + 4*7000, Others: 5 * 11000, Awaiting: 6000}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRests: a thread that works and has no processor is ready where it stopped in code, by its
// call stack, else blocked.
func TestRests(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	a.KeepCode()
	s := newShop(t, &mux)
	var x *Activity
	a.OnSpan(func(_ int64, span Span) { x = span.Of })
	id := actid.Make(1, 0x10)
	rest := func(d time.Duration, stack etw.Stack) {
		s.at += 10 * time.Microsecond
		s.Stack = stack
		s.Record(s.at, 1, &etw.Record{ProviderName: "Universal.Events", Schema: &etw.EventDesc{Name: "cswitch"}, PointerSize: etw.Ptr64,
			Payload: binary.AppendUvarint(nil, uint64(d))})
		s.Stack = etw.Stack{}
		s.at += d
	}
	rest(time.Millisecond, etw.Stack{}) // for nobody
	s.worksFor(1, id)
	s.source(1, s.start, etw.OpcodeStart, id)
	rest(3*time.Millisecond, etw.Stack{})
	rest(5*time.Millisecond, testtrace.AStack(0x10))
	s.at += 10 * time.Microsecond
	s.Record(s.at, 1, &etw.Record{ProviderName: "Universal.Events", Schema: &etw.EventDesc{Name: "cswitch"}, PointerSize: etw.Ptr64, Payload: []byte{0xff}})
	s.worksFor(1, etw.GUID{})
	s.source(1, s.stop, etw.OpcodeStop, id)
	want := [Kinds]int64{Running: x.End - x.Begin - 8e6, Blocked: 3e6, Ready: 5e6}
	if x.Causes.Spent != want || x.Causes.Parallel != 0 {
		t.Errorf("%v, want %v; %d in parallel", x.Causes.Spent, want, x.Causes.Parallel)
	}
}

// TestAbsurd: whatever the order of events, the parts of each activity add up.
func TestAbsurd(t *testing.T) {
	random, told := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		var mux etw.Mux
		f := &followed{Analysis: New(&mux)}
		f.OnSpan(func(_ int64, s Span) { f.spans = append(f.spans, s) })
		s := newShop(t, &mux)
		mux.HandleRest(func(r *etw.Record) error {
			if x := f.Lookup(r, r.ActivityID); x != nil && r.Opcode == etw.OpcodeStart {
				f.all = append(f.all, x)
			}
			return nil
		})
		ids := []etw.GUID{{}, {1}, actid.Make(1, 0x10), actid.Make(1, 0x11), actid.Make(1, 0x12), actid.Make(1, 0x12, 0x10), actid.Make(1, 0x20)}
		id := func() etw.GUID { return ids[random.IntN(len(ids))] }
		for range 300 {
			s.at += time.Duration(random.IntN(300)) * time.Microsecond
			thread, payload := int64(random.IntN(4)), make([]byte, 4*random.IntN(8))
			for i := range payload {
				payload[i] = byte(random.IntN(3))
			}
			s.Related = id()
			switch random.IntN(6) {
			case 0:
				s.source(thread, s.start, etw.OpcodeStart, id())
			case 1:
				s.source(thread, s.stop, etw.OpcodeStop, id())
			case 2:
				s.worksFor(thread, id())
			case 3:
				s.library(thread, poolEvents[random.IntN(len(poolEvents))], payload)
			default:
				s.library(thread, taskEvents[random.IntN(len(taskEvents))], payload)
			}
		}
		f.Finish()
		f.addUp(t, "made up")
		for _, x := range f.all {
			if x.Causes != nil {
				told += len(x.Causes.Path)
			}
		}
	}
	if told < 1000 {
		t.Errorf("only %d parts", told)
	}
}

// TestFlat: activities that are over take no memory, and those that never end are bounded.
func TestFlat(t *testing.T) {
	for _, stops := range []bool{true, false} {
		var mux etw.Mux
		a := New(&mux)
		s := newShop(t, &mux)
		var sizes [2]uint64
		n := uint32(0)
		for i, upTo := range []uint32{2 * maxLive, 4 * maxLive} {
			for ; n < upTo; n++ {
				s.request(n, stops)
			}
			memory.GC()
			var m memory.MemStats
			memory.ReadMemStats(&m)
			sizes[i] = m.HeapAlloc
		}
		if sizes[1] > sizes[0]+1<<20 {
			t.Errorf("stops %v: %d bytes after %d requests, %d after twice as many", stops, sizes[0], 2*maxLive, sizes[1])
		}
		memory.KeepAlive(a)
	}
}

// BenchmarkRequests is of the seven or so events of a request.
func BenchmarkRequests(b *testing.B) {
	var mux etw.Mux
	New(&mux)
	s := newShop(b, &mux)
	for i := range b.N {
		s.request(uint32(i), true)
	}
	b.ReportMetric(float64(8*b.N)/b.Elapsed().Seconds(), "events/s")
}
