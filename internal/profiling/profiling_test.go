package profiling

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// playing returns a process that plays a recording to each session.
func playing(t *testing.T, version int, recording string) (rt *eventpipetest.Runtime, p *Process, end func()) {
	t.Helper()
	b := testio.Read(t, filepath.Join("../../tests/recorded", recording))
	rt = eventpipetest.NewRuntime(version)
	rt.Stream, rt.Rest = b[:len(b)-1], b[len(b)-1:]
	folder, err := os.MkdirTemp("", "etw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	path, end, err := rt.Listen(folder)
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(end)
	t.Cleanup(end)
	c, err := eventpipe.DialSocket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return rt, &Process{Client: c, Name: "bakery", PID: -1, Version: version}, end
}

// intervals runs a process until there are n intervals, and returns all that came.
func intervals(t *testing.T, m *Machine, p *Process, n int) (list []*Interval) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := m.Run(ctx, p, func(x *Interval) {
		if list = append(list, x); len(list) >= n {
			cancel()
		}
	})
	if err != nil || len(list) < n {
		t.Fatalf("%d intervals, want %d: %v", len(list), n, err)
	}
	return list
}

func options(kinds ...string) Options {
	return Options{Kinds: kinds, Interval: 60 * time.Millisecond, Window: 10 * time.Millisecond, List: true, BufferMB: 16, Patience: 10 * time.Second}
}

// rundowns counts sessions that ask for the list of all methods.
func rundowns(rt *eventpipetest.Runtime) (n int) {
	for _, r := range rt.Requests() {
		if r.Command == eventpipetest.CollectTracing2 && len(r.Payload) > 8 && r.Payload[8] != 0 {
			n++
		}
	}
	return n
}

// TestKinds has all that the events of recordings tell, each once though many sessions follow
// one process, and asks for all methods once, since too few have names without.
func TestKinds(t *testing.T) {
	for _, test := range []struct {
		recording, kind string
		version         int
		samples         int
	}{
		{"answers/alloc-9.nettrace", Allocs, 9, 0}, {"answers/exceptions-10.nettrace", Exceptions, 10, 7}, {"answers/locks-10.nettrace", Contention, 10, 0},
	} {
		rt, p, _ := playing(t, test.version, test.recording)
		all := 0
		var got *Interval
		for _, x := range intervals(t, New(options(test.kind)), p, 3) {
			for _, of := range x.Profiles {
				got = x
				if all += of.Len(); of.Of != test.kind {
					t.Errorf("%s: there is a profile of %s", test.recording, of.Of)
				}
			}
			if x.Window > 0 || x.Skipped != "" {
				t.Errorf("%s: threads were to be sampled", test.recording)
			}
		}
		if all == 0 || test.samples > 0 && all != test.samples {
			t.Errorf("%s: %d samples of %s", test.recording, all, test.kind)
			continue
		}
		if n := rundowns(rt); n > 1 {
			t.Errorf("%s: %d rundowns", test.recording, n)
		}
		out := p.Request(got, []otlp.Attribute{{Key: "service.name", Value: "shop"}})
		if out.Count() == 0 || len(out.AppendProto(nil)) == 0 {
			t.Errorf("%s: nothing is sent", test.recording)
		}
	}
}

// TestLimits has a kind of which there are too many events pause until the next interval, with
// all that had happened by then, and says for how long it was followed.
func TestLimits(t *testing.T) {
	rt, p, _ := playing(t, 10, "answers/exceptions-10.nettrace")
	o := options(Exceptions)
	o.Interval, o.List = 300*time.Millisecond, false
	o.MaxEvents = 10 // three in an interval
	list := intervals(t, New(o), p, 4)
	sessions := 0
	for _, r := range rt.Requests() {
		if r.Command == eventpipetest.CollectTracing2 || r.Command == eventpipetest.CollectTracing3 {
			sessions++
		}
	}
	samples, parts := 0, 0
	for _, x := range list {
		for _, of := range x.Profiles {
			samples += of.Len()
		}
		for _, part := range x.Partly {
			if part.Kind != Exceptions || part.For <= 0 || part.For > time.Minute {
				t.Errorf("there is the part %v", part)
			}
			parts++
		}
		if x.Dropped > 0 {
			t.Errorf("%d are dropped", x.Dropped)
		}
	}
	// One session learns names; of the others each plays the recording from its begin.
	if samples == 0 || samples != 7*(sessions-1) && samples != 7*(sessions-2) || parts == 0 {
		t.Errorf("%d samples, %d parts, and %d sessions", samples, parts, sessions)
	}
	f := &follower{happening: &happenings[0], o: &o, paused: time.Now()}
	f.begin(1)
	var x Interval
	if f.swap(&x, 1); len(x.Partly) != 1 || x.Partly[0].For != 0 {
		t.Errorf("what paused before an interval was followed for %v", x.Partly)
	}
	for _, test := range []struct {
		busy, share float64
		most, want  int
	}{{0.1, 0, 2000, 120000}, {0.1, 0, 0, maxSamples}, {0.1, 6, 2000, 6000}, {1, 6, 0, 60000}, {1, 6, 10, 600}, {0, 6, 10, leastEvents}} {
		o := Options{Interval: time.Minute, Share: test.share, MaxEvents: test.most}
		if got := o.limit(test.busy); got != test.want {
			t.Errorf("of %v processors, %v %% and %d a second are %d events, want %d", test.busy, test.share, test.most, got, test.want)
		}
	}
}

// TestProcessEnds has the run end with its process, with the samples up to then.
func TestProcessEnds(t *testing.T) {
	rt, p, end := playing(t, 10, "answers/exceptions-10.nettrace")
	o := options(Exceptions)
	o.Interval, o.List = time.Hour, false
	done := make(chan []*Interval)
	go func() {
		var list []*Interval
		if err := New(o).Run(context.Background(), p, func(x *Interval) { list = append(list, x) }); err != nil {
			t.Error(err)
		}
		done <- list
	}()
	for rt.Streamed() < 2 {
		time.Sleep(time.Millisecond)
	}
	end()
	if list := <-done; len(list) != 1 {
		t.Errorf("%d intervals", len(list))
	}
}

// TestBudget has windows become shorter, or wait, so that their cost stays within the
// budget, whatever one of them seems to cost, and within the process's own share.
func TestBudget(t *testing.T) {
	for _, rate := range []float64{0, 0.05, 0.5, 4} {
		now := time.Unix(1e9, 0)
		b, r := newBudget(0.01, time.Minute, now), &run{m: New(Options{Window: 5 * time.Second, Interval: time.Minute, Share: 6}), price: price{rate: assumedRate}}
		cost, windows := 0.0, 0
		const minutes, busy = 600, 0.2
		for i := range minutes {
			now = now.Add(time.Minute)
			if long := b.window(r.own(busy, true), r.price.rate, now); long > 0 {
				noise := 0.02 * float64(i%3-1)
				r.price.saw(long, rate+noise)
				b.spend(r.price.of(long))
				cost += rate * long.Seconds()
				windows++
			}
		}
		share := 100 * cost / (minutes * 60)
		if share > 1.1 {
			t.Errorf("at %v processors windows cost %.2f %% of a processor, and 1 is allowed", rate, share)
		}
		if own := share / busy; own > 3.3 && rate*leastWindow.Seconds() < 0.03*busy*60 {
			t.Errorf("at %v processors windows cost %.2f %% of what the process takes, and 3 is allowed", rate, own)
		}
		if windows == 0 || rate < 0.1 && windows < minutes*9/10 {
			t.Errorf("at %v processors there are %d windows in %d minutes", rate, windows, minutes)
		}
	}
	b := newBudget(0, time.Minute, time.Now())
	if b.spend(3600); b.window(time.Second, 1, time.Now()) != time.Second {
		t.Error("without a budget a window is not as long as it is to be")
	}
}

// TestCode names compiled methods of a process by its map, and remembers names.
func TestCode(t *testing.T) {
	c := &code{p: &Process{PID: -1}, jitted: []compiled{{100, 120, "void [Shop] Bakery.Oven::Bake(int32)[Tier1]"}, {200, 201, "stub"}}}
	for range 2 {
		name, end := c.naming()
		for address, want := range map[uint64]string{0: "", 99: "", 100: "Shop!Bakery.Oven.Bake(int32)", 119: "Shop!Bakery.Oven.Bake(int32)", 120: "", 200: "stub", 201: ""} {
			n, ok := name(7, address, time.Time{})
			if got := n.Full(); ok != (want != "") || ok && got != want {
				t.Errorf("%d is %q, want %q", address, got, want)
			}
		}
		end()
	}
	if err := c.ask(t.Context()); err != nil || len(c.jitted) != 0 || len(c.known) != 0 {
		t.Errorf("no process has %d methods: %v", len(c.jitted), err)
	}
}

// TestTurns has no two processes sampled at once.
func TestTurns(t *testing.T) {
	m := New(options(CPU))
	m.turn <- struct{}{} // another one is sampled
	_, p, _ := playing(t, 10, "answers/exceptions-10.nettrace")
	r := m.newRun(p)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var x Interval
	if w, err := r.window(ctx, &x); w != nil || err != nil || x.Window > 0 {
		t.Errorf("there was a window while another process had one: %v", err)
	}
	<-m.turn
	if w, err := r.window(t.Context(), &x); w == nil || err != nil || x.Window == 0 || x.Measured {
		t.Errorf("there was no window of %v: %v", x.Skipped, err)
	}
}

// TestLoad has the time that this process itself takes.
func TestLoad(t *testing.T) {
	l := load{pid: int64(os.Getpid())}
	if _, known := l.since(time.Now()); known {
		t.Fatal("there is a load since nothing")
	}
	if !l.know {
		t.Skip("the system does not tell what processes take")
	}
	begun := time.Now()
	for had := l.had; l.had-had < 50*time.Millisecond; {
		for i := range 1 << 16 {
			sink += i
		}
		l.had, _ = processorTime(l.pid)
	}
	l = load{pid: l.pid, at: begun, know: true}
	if busy, known := l.since(time.Now()); !known || busy <= 0 {
		t.Errorf("it took %v processors", busy)
	}
	if _, ok := processorTime(-1); ok {
		t.Error("a process without a number took time")
	}
	if !slices.Equal(Kinds(), []string{CPU, Allocs, Exceptions, Contention}) {
		t.Error("there are other kinds")
	}
}

var sink int
