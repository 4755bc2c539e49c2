package asyncs

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A writer makes a buffer as the runtime does. Times are nanoseconds.
type writer struct {
	first, at int64
	count     uint32
	events    []byte
}

func (w *writer) event(id byte, at int64, width int, fields []byte) *writer {
	if w.count == 0 && w.first == 0 {
		w.first, w.at = at, at
	}
	w.events = binary.AppendUvarint(append(w.events, id), uint64(at-w.at))
	for i := range width {
		w.events = append(w.events, byte(len(fields)>>(8*i)))
	}
	w.events = append(w.events, fields...)
	w.at = at
	w.count++
	return w
}

// say writes an event as the first runtimes lay it out.
func (w *writer) say(id byte, at int64, fields ...uint64) *writer {
	var p []byte
	for _, x := range fields {
		p = binary.AppendUvarint(p, x)
	}
	return w.event(id, at, int(forms[id].width), p)
}

// stack writes an event with methods.
func (w *writer) stack(id byte, at int64, task uint64, frames ...uint64) *writer {
	p := []byte{0, 0, byte(len(frames))}
	if forms[id].op == createStack {
		p = binary.AppendUvarint(p, 1)
	}
	p = binary.AppendUvarint(p, task)
	before := uint64(0)
	for i, f := range frames {
		if i == 0 {
			p = binary.AppendUvarint(p, f)
		} else {
			p = binary.AppendVarint(p, int64(f-before))
		}
		if before = f; forms[id].compiled {
			p = binary.AppendVarint(p, int64(i)-2)
		}
	}
	return w.event(id, at, int(forms[id].width), p)
}

// metadata writes the clock and the layouts of events.
func (w *writer) metadata(at int64, frequency, ticks, utc uint64, layouts ...byte) *writer {
	var p []byte
	for _, x := range []uint64{frequency, ticks, utc, 16128} {
		p = binary.AppendUvarint(p, x)
	}
	return w.event(22, at, 2, append(append(p, 32, byte(len(layouts)/3)), layouts...))
}

// payload returns the payload of the event with the buffer.
func (w *writer) payload(thread uint64) []byte {
	b := append([]byte{version}, make([]byte, headSize-1)...)
	binary.LittleEndian.PutUint32(b[1:], uint32(headSize+len(w.events)))
	binary.LittleEndian.PutUint32(b[5:], 7)
	binary.LittleEndian.PutUint64(b[9:], thread)
	binary.LittleEndian.PutUint32(b[17:], w.count)
	binary.LittleEndian.PutUint64(b[21:], uint64(w.first))
	binary.LittleEndian.PutUint64(b[29:], uint64(w.at))
	b = append(b, w.events...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// A followed is an analysis and the runs that it told of.
type followed struct {
	a    *Analysis
	s    *testtrace.Script
	runs []Run
}

func follow(tb testing.TB) *followed {
	var mux etw.Mux
	f := &followed{a: Of(&mux), s: testtrace.NewScript(tb, &mux)}
	f.a.OnRun(func(_ int64, r Run) { f.runs = append(f.runs, r) })
	return f
}

func (f *followed) give(at time.Duration, payload []byte) {
	f.s.Record(at, 99, &etw.Record{Provider: etw.NameGUID(Provider), ProviderName: Provider, ID: 1, Version: 1, Level: etw.LevelInformational, Kind: etw.KindManifest, PointerSize: etw.Ptr64, Payload: payload})
}

func (f *followed) result() *Runtime {
	return f.a.Result(1, 0, func(places []uint64) (names []string) {
		for _, x := range places {
			names = append(names, fmt.Sprintf("%#x", x))
		}
		return names
	})
}

// TestRuns: a task that suspends on one thread and goes on with another, whose buffer comes
// first, a run within a run, methods that return and one that an exception ends.
func TestRuns(t *testing.T) {
	f := follow(t)
	second := new(writer).metadata(100, 1e9, 100, 1, 22, 1, 2).say(20, 110).
		say(2, 2000, 5).stack(7, 2000, 5, 0x1000, 0x900, 0x1100). // goes on after 1500
		say(10, 2100).                                            // the innermost returns
		say(12, 2200, 6).stack(16, 2200, 6, 0x5000).              // within it
		stack(19, 2250, 6, 0x5100).
		say(13, 2300).      // suspends
		say(5, 2400, 2).    // both others end by an exception
		say(21, 2410).      // numbers begin again
		say(23, 2420, 2, 3) // the clock
	second.event(24, 2430, 1, slices.Repeat([]byte{0xab}, 16)).say(4, 2500)
	f.give(3000, second.payload(12))
	f.give(4000, new(writer).say(20, 90).say(1, 500, 0, 5).say(2, 700, 5).stack(7, 700, 5, 0x900).say(3, 1500).payload(11))
	var trace [16]byte
	for i := range trace {
		trace[i] = 0xab
	}
	want := []Run{
		{Thread: 12, From: 2200, To: 2300, Task: 6, Depth: 1, Frames: []uint64{0x5001, 0x5101}},
		{Thread: 12, From: 2000, To: 2500, Task: 5, Frames: []uint64{0x1000, 0x900, 0x1100}, Over: []time.Duration{2100, 2400, 2400}, Trace: trace},
		{Thread: 11, From: 700, To: 1500, Task: 5, Frames: []uint64{0x900}},
	}
	if !reflect.DeepEqual(f.runs, want) {
		t.Errorf("runs are\n%v\nwant\n%v", f.runs, want)
	}
	for range 2 { // a result changes nothing
		got := f.result()
		ms := func(ns float64) float64 { return ns / 1e6 }
		methods := map[string]Method{
			"0x1000": {"0x1000", 1, ms(100), ms(100), 1, ms(500), ms(500)}, // 2000 to 2100, awaited since 1500
			"0x900":  {"0x900", 3, ms(1000), ms(800), 1, ms(200), ms(200)}, // 700 to 1500, 2100 to 2200 and 2300 to 2400
			"0x5001": {"0x5001", 1, ms(100), ms(100), 0, 0, 0},
			"0x0":    {"0x0", 1, ms(100), ms(100), 0, 0, 0}, // after the last one
		}
		if got.Runs != 3 || got.Events != 19 || got.Threads != 2 || got.Traces != 1 || got.Untold != 0 || got.RunningMS != ms(1300) || got.AwaitingMS != ms(700) || got.Awaits != 2 {
			t.Errorf("%+v", *got)
		}
		for _, m := range got.Methods {
			if *m != methods[m.Name] {
				t.Errorf("%+v, want %+v", *m, methods[m.Name])
			}
		}
		if len(got.Methods) != len(methods) {
			t.Errorf("%d methods", len(got.Methods))
		}
	}
}

// TestRefused: newer forms and damage are told, wherever a buffer is cut, and nothing of such
// a buffer counts.
func TestRefused(t *testing.T) {
	whole := new(writer).say(20, 10).stack(7, 20, 5, 0x1000).say(3, 30)
	change := func(at int, x byte) []byte {
		p := whole.payload(1)
		p[at] += x
		return p
	}
	newer := new(writer).metadata(5, 1e9, 5, 5, 30, 2, 1).event(30, 6, 1, []byte("what it has")).say(20, 10)
	for _, tt := range []struct {
		name    string
		payload []byte
		want    Runtime
	}{
		{"whole", whole.payload(1), Runtime{Buffers: 1, Events: 3, Threads: 1, Runs: 1}},
		{"an event whose length is told", newer.payload(1), Runtime{Buffers: 1, Events: 3, Threads: 1}},
		{"a field more", new(writer).say(20, 10).say(2, 20, 5, 77, 78).say(4, 30).payload(1), Runtime{Buffers: 1, Events: 3, Threads: 1, Runs: 1}},
		{"version", change(4, 8), Runtime{Unknown: 1, Version: 9}},
		{"event", new(writer).event(25, 10, 0, nil).payload(1), Runtime{Unknown: 1, Event: 25}},
		{"event 0", new(writer).event(0, 10, 0, nil).payload(1), Runtime{Damaged: 1}},
		{"size", change(0, 1), Runtime{Damaged: 1}},
		{"inner size", change(5, 1), Runtime{Damaged: 1}},
		{"count", change(4+17, 1), Runtime{Damaged: 1}},
		{"begin", change(4+21, 1), Runtime{Damaged: 1}},
		{"end", change(4+29, 1), Runtime{Damaged: 1}},
		{"frames", change(4+headSize+2+2+2+2, 1), Runtime{Damaged: 1}},
		{"before a reset", new(writer).say(2, 20, 5).say(3, 30).payload(1), Runtime{Buffers: 1, Events: 2, Threads: 1, Untold: 2}},
		{"a preview's, without lengths", new(writer).event(2, 20, 0, []byte{5}).event(3, 30, 0, nil).payload(1), Runtime{Damaged: 1}},
	} {
		f := follow(t)
		f.give(50, tt.payload)
		got := *f.result()
		got.RunningMS, got.Methods = 0, nil
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
		if told := len(got.Warnings()) > 0; told != (got.Unknown+got.Damaged > 0) {
			t.Errorf("%s: warns of %q", tt.name, got.Warnings())
		}
	}
	for n := range whole.payload(1) {
		f := follow(t)
		f.give(50, whole.payload(1)[:n])
		if got := f.result(); got.Damaged != 1 || got.Buffers != 0 || f.runs != nil {
			t.Errorf("cut at %d: %+v", n, *got)
		}
	}
}

// TestClock: times are those of the trace, whose clock may be another one than the runtime's.
func TestClock(t *testing.T) {
	for _, tt := range []struct {
		name             string
		frequency, ticks uint64
		first            int64
		want             time.Duration
	}{
		{"the same", 1e9, 0, 2000, 2000},
		{"ten times slower", 1e8, 1e6, 1e6 + 200, 2000},
		{"another begin", 1e9, 5e12, 5e12 + 2000, 2000},
	} {
		f := follow(t)
		f.give(1e6, new(writer).metadata(tt.first, tt.frequency, tt.ticks, 0).say(20, tt.first).say(2, tt.first, 5).say(4, tt.first+100).payload(1))
		if len(f.runs) != 1 || f.runs[0].From != tt.want {
			t.Errorf("%s: %v", tt.name, f.runs)
		}
	}
}

// A busy is a program of async methods that counts for itself.
type busy struct {
	random          *rand.Rand
	writers         [4]*writer
	on              [4][]int // tasks, by threads
	since           [4]int64 // when the thread began to run any
	suspended       map[int]int64
	awaited, ran    int64
	awaits, runs, n int
}

// step has a thread do something at a time.
func (b *busy) step(now int64) {
	t := b.random.IntN(len(b.writers))
	w := b.writers[t]
	waiting := slices.Sorted(func(yield func(int) bool) {
		for id := range b.suspended {
			if !yield(id) {
				return
			}
		}
	})
	switch n := len(b.on[t]); {
	case n < 3 && len(waiting) > 0 && b.random.IntN(3) > 0: // goes on
		id := waiting[b.random.IntN(len(waiting))]
		if n == 0 {
			b.since[t] = now
		}
		b.awaits, b.awaited = b.awaits+1, b.awaited+now-b.suspended[id]
		delete(b.suspended, id)
		b.on[t] = append(b.on[t], id)
		w.say(2, now, uint64(id)).stack(7, now, uint64(id), uint64(0x1000+id%7), 0x2000)
	case n == 0 || b.random.IntN(4) == 0: // begins
		b.n++
		b.suspended[b.n] = now
		w.say(1, now, 0, uint64(b.n))
	default:
		id := b.on[t][n-1]
		b.on[t] = b.on[t][:n-1]
		b.runs++
		if n == 1 {
			b.ran += now - b.since[t]
		}
		if b.random.IntN(3) > 0 {
			b.suspended[id] = now
			w.say(3, now)
		} else {
			w.say(4, now)
		}
	}
}

// TestBusy: for any order of events, cut into buffers anywhere that come late and in any order,
// runs, awaits and their times are those that the program counts, and methods have all of the time
// that threads ran.
func TestBusy(t *testing.T) {
	for seed := range uint64(30) {
		b := &busy{random: rand.New(rand.NewPCG(seed, 1)), suspended: make(map[int]int64)}
		var late [4][][]byte
		cut := func(i int) {
			late[i] = append(late[i], b.writers[i].payload(uint64(i+1)))
			b.writers[i] = new(writer)
		}
		for i := range b.writers {
			b.writers[i] = new(writer).say(20, 1)
		}
		now := int64(1)
		for range 3000 {
			now += 1 + b.random.Int64N(50)
			b.step(now)
			if i := b.random.IntN(200); i < len(b.writers) && b.writers[i].count > 0 {
				cut(i)
			}
		}
		for i := range b.writers {
			for len(b.on[i]) > 0 { // all end
				now++
				id := b.on[i][len(b.on[i])-1]
				b.on[i] = b.on[i][:len(b.on[i])-1]
				b.runs++
				if len(b.on[i]) == 0 {
					b.ran += now - b.since[i]
				}
				b.suspended[id] = now
				b.writers[i].say(3, now)
			}
			if b.writers[i].count > 0 {
				cut(i)
			}
		}
		f := follow(t)
		for left := len(slices.Concat(late[:]...)); left > 0; {
			if i := b.random.IntN(len(late)); len(late[i]) > 0 {
				f.give(time.Duration(now), late[i][0])
				late[i] = late[i][1:]
				left--
			}
		}
		got, ms := f.result(), func(ns int64) float64 { return float64(ns) / 1e6 }
		sum := 0.0
		for _, m := range got.Methods {
			sum += m.RunningMS
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
		if got.Runs != b.runs || got.Awaits != b.awaits || !near(got.AwaitingMS, ms(b.awaited)) || !near(got.RunningMS, ms(b.ran)) || !near(sum, ms(b.ran)) || got.Untold+got.Damaged > 0 {
			t.Fatalf("seed %d: %d runs, %d awaits, %v ms awaiting, %v running, %v of methods; the program has %d, %d, %v, %v: %+v",
				seed, got.Runs, got.Awaits, got.AwaitingMS, got.RunningMS, sum, b.runs, b.awaits, ms(b.awaited), ms(b.ran), *got)
		}
	}
}

// TestBound: of tasks that are over no more are kept than there is room for, and all count.
func TestBound(t *testing.T) {
	f := follow(t)
	w := new(writer).say(20, 1)
	const tasks = maxTasks + 1000
	for id := range uint64(tasks) {
		at := int64(id) * 100
		w.say(1, at+10, 0, id).stack(7, at+30, id, 0x1000).say(4, at+40)
		if len(w.events) > 16000 || id == tasks-1 {
			f.give(time.Duration(at+50), w.payload(1))
			w = new(writer)
		}
	}
	got := f.result()
	if p := &f.a.processes.All()[0].State; len(p.tasks) > maxTasks || got.Awaits != tasks || got.Untold > 0 || math.Abs(got.AwaitingMS-tasks*20/1e6) > 1e-6 {
		t.Errorf("%d tasks are kept: %+v", len(p.tasks), *got)
	}
}

// FuzzBuffers: no buffer has the analysis panic, its times go back, or its sums exceed the times
// that it tells of.
func FuzzBuffers(f *testing.F) {
	f.Add(new(writer).metadata(5, 1e9, 5, 5, 30, 2, 1).say(20, 6).say(2, 10, 5).stack(7, 10, 5, 1, 2, 3).say(10, 20).say(3, 30).payload(1))
	f.Add(new(writer).say(20, 6).say(1, 7, 0, 5).stack(16, 10, 5, 9).stack(19, 11, 5, 8).say(15, 12, 9).say(14, 30).payload(2))
	f.Add([]byte("L\x00\x00\x00\x01L\x00\x00\x00000000000000\x06\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x1e\x00\x00\x00\x00\x00\x00\x00\x16\x00\x0e\x00\x80\x94\xeb\xdc000\x8000\x0100\x01\x14\x01\x02\x04\x010\a\x00\a\x0000\x031000\n\n\x03\n"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		x := follow(t)
		for range 3 {
			x.give(1000, payload)
		}
		res := x.result()
		if res == nil || res.RunningMS < 0 || res.AwaitingMS < 0 || res.Buffers+res.Unknown+res.Damaged != 3 {
			t.Fatalf("%+v", res)
		}
		for _, r := range x.runs {
			if r.Depth < 0 || r.Depth >= maxNested || len(r.Over) > len(r.Frames) || len(r.Frames) > maxFrames {
				t.Fatalf("%+v", r)
			}
		}
	})
}
