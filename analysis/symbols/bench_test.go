package symbols

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// aMillion returns an analysis of a million methods, of types and signatures that
// many have in common.
func aMillion(tb testing.TB) *Analysis {
	var mux etw.Mux
	a := New(&mux)
	d := (&clr.MethodLoadVerboseV2{}).EventDesc()
	clock := &etw.Clock{Frequency: 1e9}
	for i := range 1_000_000 {
		e := clr.MethodLoadVerboseV2{MethodID: uint64(i) + 1, ModuleID: uint64(i / 20000), MethodStartAddress: 0x7fff00000000 + uint64(i)*0x100, MethodSize: 0xf0,
			MethodNamespace: etw.MakeUTF16(fmt.Sprintf("Company.Product.Area%d.Type%d", i/1000, i/12)),
			MethodName:      etw.MakeUTF16(fmt.Sprintf("Method%d", i%5000)),
			MethodSignature: etw.MakeUTF16(fmt.Sprintf("instance void  (class System.String,int32,class Company.Product.Argument%d)", i%3000))}
		p := testio.Payload(tb, &e, etw.Ptr64)
		r := etw.Record{Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, PointerSize: etw.Ptr64, Payload: p, ProcessID: 1, Timestamp: int64(i), Clock: clock}
		if err := mux.Dispatch(&r); err != nil {
			tb.Fatal(err)
		}
	}
	return a
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// randomAddresses returns addresses in the methods of aMillion, of so many different
// methods.
func randomAddresses(n, methods int) []uint64 {
	list, of := make([]uint64, n), make([]uint64, methods)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range of {
		of[i] = rng.Uint64N(1_000_000)
	}
	for i := range list {
		list[i] = 0x7fff00000000 + of[rng.IntN(methods)]*0x100 + rng.Uint64N(0xf0)
	}
	return list
}

// BenchmarkLookup looks for random addresses among those of a million methods: of ten
// thousand of them, as there are in a trace, or of all, which is worse than any.
//
// It takes turns with a binary search for addresses in a sorted list of starts, in batches
// that are shorter than its turns on a busy machine: best is the fastest of all, and ratio
// that to the fastest of the other. A load is one read at a random place of a table as
// large.
func BenchmarkLookup(b *testing.B) {
	before := heap()
	a := aMillion(b)
	table := a.Table()
	used := float64(heap()-before) / 1e6
	starts := make([]uint64, 1_000_000)
	for i := range starts {
		starts[i] = 0x7fff00000000 + uint64(i)*0x100
	}
	for _, methods := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("of=%d", methods), func(b *testing.B) { benchmarkLookup(b, table, starts, methods) })
	}
	runtime.KeepAlive(a)
	b.Logf("a million methods and their table use %.1f MB", used)
	if used > 200 {
		b.Error("that is too much")
	}
}

func benchmarkLookup(b *testing.B, table *Table, starts []uint64, methods int) {
	const batch = 4096
	addresses := randomAddresses(1<<20, methods)
	at := unixOfZero + 2_000_000
	best, other, load := time.Hour, time.Hour, time.Hour
	places := slices.Clone(table.lives[1][0].places)
	found := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		list := addresses[i*batch%len(addresses):][:batch]
		begin := time.Now()
		for _, address := range list {
			if loc := table.Lookup(1, address, time.Unix(0, at)); loc.Kind == Managed {
				found++
			}
		}
		best = min(best, time.Since(begin))
		list = addresses[(i*batch+len(addresses)/2)%len(addresses):][:batch]
		begin = time.Now()
		for _, address := range list {
			if i, _ := slices.BinarySearch(starts, address); i > 0 {
				found++
			}
		}
		other = min(other, time.Since(begin))
		list = addresses[(i*batch+len(addresses)/4)%len(addresses):][:batch]
		begin = time.Now()
		for _, address := range list {
			if places[(address-0x7fff00000000)>>8].size > 0 {
				found++
			}
		}
		load = min(load, time.Since(begin))
	}
	if found == 0 {
		b.Error("nothing is found")
	}
	b.ReportMetric(float64(best.Nanoseconds())/batch, "best-ns/lookup")
	b.ReportMetric(float64(other.Nanoseconds())/batch, "best-ns/search")
	b.ReportMetric(float64(load.Nanoseconds())/batch, "best-ns/load")
	b.ReportMetric(float64(best)/float64(other), "ratio")
}

// Lookups allocate nothing.
func TestLookupAllocations(t *testing.T) {
	s := newScene(t)
	s.load(1*ms, 1, 0x1000, "A")
	table := s.a.Table()
	at := s.when(2 * ms)
	if n := testing.AllocsPerRun(100, func() {
		if loc := table.Lookup(1, 0x1004, time.Unix(0, at)); loc.Kind != Managed {
			t.Error("not found")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzMethods gives loads and unloads of any methods to an analysis, and holds
// lookups against a search through all of them.
func FuzzMethods(f *testing.F) {
	f.Add([]byte("\x01\x10\x20\x00\x02\x18\x20\x01\x01\x10\x20\x02\x03\x10\x08\x00"))
	f.Add([]byte("\x01\x10\x20\x03\x01\x10\x20\x03\x01\x10\x20\x01\x02\x11\xff\x00\x02\x11\xff\x02"))
	f.Fuzz(func(t *testing.T, script []byte) {
		p := &process{text: &arena{}, began: always}
		now := int64(0)
		for ; len(script) >= 4; script = script[4:] {
			now += int64(script[3] >> 3)
			c := code{id: uint64(script[0] & 7), start: uint64(script[1]), size: uint32(script[2]), name: etw.UTF16{'A' + script[0]&3, 0}}
			if script[0] > 250 {
				c.start, c.size = ^uint64(0)-uint64(script[1]), uint32(0xffffff00)+uint32(script[2])
			}
			p.learn(now, Origin(script[3]%5), &c)
		}
		l := newLife(p)
		table := &Table{lives: map[int64][]*life{1: {l}}}
		for _, x := range l.places[:min(len(l.places), 16)] {
			start := p.methods.at(x.method).start
			for _, address := range []uint64{start - 1, start, start + uint64(x.size)/2, x.last(start), x.last(start) + 1} {
				for _, at := range []int64{-1, 0, x.from - 1, x.from, x.from/2 + x.to/2, x.to - 1, x.to, now} {
					if at != always && at != never {
						check(t, l, table.Lookup(1, address, time.Unix(0, at)), address, at)
					}
				}
			}
		}
	})
}

// check holds a location against all methods.
func check(t *testing.T, l *life, loc Location, address uint64, at int64) {
	t.Helper()
	alive, covered := 0, 0
	for i := range l.places {
		if m, start := &l.places[i], l.at(i).start; start <= address && address-start < uint64(m.size) {
			covered++
			if m.far(at) == 0 {
				alive++
			}
		}
	}
	if len(l.places) > maxAround {
		return // beyond this lookups do not look at all
	}
	switch {
	case (loc.Kind == Managed) != (covered > 0), loc.Kind == Managed && loc.Guess != (alive == 0):
		t.Fatalf("%#x at %d is %+v; %d methods of %d are there", address, at, loc, alive, covered)
	case loc.from > at || loc.to <= at:
		t.Fatalf("%#x at %d is valid from %d to %d", address, at, loc.from, loc.to)
	}
	if loc.Kind == Managed && (loc.Address != address || loc.Offset() >= uint64(l.at(int(loc.index)).size)) {
		t.Fatalf("%#x at %d is at %d of %+v", address, at, loc.Offset(), loc.Method())
	}
}
