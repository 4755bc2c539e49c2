package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

func known(v float64) measure.Float { return measure.Known(v) }

// collections returns n complete collections of a kind.
func collections(n int, of gc.GC) []*gc.GC {
	var list []*gc.GC
	for i := range n {
		g := of
		g.Number = uint32(i + 1)
		list = append(list, &g)
	}
	return list
}

// Each finding fires from its threshold on, with a severity, and not below. The page of
// docs lists it.
func TestThresholds(t *testing.T) {
	page := testio.Read(t, "../../docs/report.md")
	paused := func(percent float64) []Finding { return GC(&gc.Runtime{Count: 1, PausePercent: known(percent)}) }
	longest := func(ms float64) []Finding {
		return GC(&gc.Runtime{Count: 1, GCs: collections(1, gc.GC{Generation: 2, Kind: gc.Blocking, Reason: "AllocSmall", StartMS: 500, PauseMS: known(ms)})})
	}
	suspended := func(ms float64) []Finding {
		return GC(&gc.Runtime{Count: 1, GCs: collections(1, gc.GC{StartMS: 500, SuspendMS: known(ms)})})
	}
	induced := func(n int) []Finding { return GC(&gc.Runtime{Count: n, All: gc.Rollup{Induced: n}}) }
	blocking := func(all, n int, asked bool) []Finding {
		return GC(&gc.Runtime{Count: all, GCs: collections(n, gc.GC{Generation: 2, Kind: gc.Blocking, Induced: asked})})
	}
	large := func(all, n int) []Finding {
		return GC(&gc.Runtime{Count: all, GCs: collections(n, gc.GC{Reason: "AllocLarge"})})
	}
	grown := func(mb ...float64) []Finding {
		r := &gc.Runtime{Count: len(mb)}
		for i, x := range mb {
			g := collections(1, gc.GC{Generation: 2, StartMS: float64(1000 * i), AfterMB: known(x)})
			r.GCs = append(r.GCs, g...)
		}
		return GC(r)
	}
	other := func(forGC bool, ms float64) []Finding {
		return GC(&gc.Runtime{PauseMS: 0.5, Suspensions: gc.Suspensions{ByReason: []gc.SuspensionReason{{Reason: "SuspendOther", GC: forGC, Count: 1200, TotalMS: ms}}}})
	}
	bread := func(types []alloc.Type) []Finding { return Alloc(&alloc.Runtime{Ticks: &alloc.Ticks{Types: types}}) }
	thrown := func(n uint64, width float64) []Finding {
		return Exceptions(&exceptions.Runtime{Tally: exceptions.Tally{New: int(n)}, Types: []exceptions.Type{{Type: "Bakery.Burnt", Tally: exceptions.Tally{New: int(n)}}}, Series: measure.Series{WidthMS: width, Counts: []uint64{0, n}}})
	}
	waited := func(n int) []Finding {
		return Contention(&contention.Runtime{Count: n, TotalMS: 4, DurationMS: measure.Summary{Max: known(3)}})
	}
	queued := func(ms float64) []Finding {
		return ThreadPool(&threadpool.Runtime{Queue: &threadpool.Queue{WaitMS: measure.Summary{P95: known(ms)}}})
	}
	stuck := func(list ...Stay) []Finding { return Stuck(list) }
	untold := " Held by: code that is not told: the trace has no samples of threads (Microsoft-DotNETCore-SampleProfiler)."
	starved := func(s *threadpool.Starvation) []Finding { return ThreadPool(&threadpool.Runtime{Starvation: s}) }
	compiled := func(n int, ms float64) []Finding { return JIT(&jit.Runtime{Count: n, ExclusiveMS: ms}) }
	failed := func(errors ...int) []Finding {
		p := new(requests.Process)
		for i, n := range errors {
			p.Tasks = append(p.Tasks, requests.Task{Provider: "Shop", Task: fmt.Sprint("Order", i), Errors: measure.Known(float64(n))})
		}
		return Requests(p)
	}
	served := func(within int) []Finding { // a client and a server in one process
		at := func(name string, n int) []requests.Endpoint {
			return []requests.Endpoint{{Endpoint: name + "/ok"}, {Endpoint: name + "/late", Errors: measure.Known(1)}, {Endpoint: name + "/fail", Errors: measure.Known(float64(n))}}
		}
		return Requests(&requests.Process{Tasks: []requests.Task{{Provider: "Http", Task: "Out", Errors: measure.Known(3), Endpoints: at("shop", 2)},
			{Provider: "Web", Task: "In", Errors: measure.Known(3), ErrorsWithin: within, Endpoints: at("GET ", 2)}, {Provider: "Web", Task: "Part", Errors: measure.Known(1), ErrorsWithin: 1}}})
	}
	slowTo := func(endpoint string, n int, p95 float64, by ...requests.Cause) []Finding {
		e := requests.Endpoint{Endpoint: endpoint, Count: n, DurationMS: measure.Summary{Mean: known(7), P95: known(p95)}, CausedBy: by}
		quick := requests.Endpoint{Endpoint: "GET /ok", Count: 10, DurationMS: measure.Summary{P95: known(9)}}
		return Requests(&requests.Process{Tasks: []requests.Task{{Endpoints: []requests.Endpoint{quick, e, quick}}}})
	}
	slow := func(n int, p95 float64, by ...requests.Cause) []Finding {
		return slowTo("GET /100%/slow", n, p95, by...)
	}
	answered := func(p95 float64, others ...requests.Endpoint) []Finding { // and who asks it waits longer
		of := func(p95 float64) []requests.Endpoint {
			return []requests.Endpoint{{Endpoint: fmt.Sprintf("GET /%.0f", p95), Count: 20, DurationMS: measure.Summary{Mean: known(7), P95: known(p95)}}}
		}
		return Requests(&requests.Process{Tasks: []requests.Task{{Provider: "System.Net.Http", Endpoints: of(900)}, {Provider: "Microsoft.AspNetCore.Hosting", Endpoints: append(of(p95), others...)}}})
	}
	lost := func(n int64) []Finding {
		r := nothing()
		r.Lost, r.Records = n, 1000
		return Of(r)
	}
	for _, test := range []struct {
		name string
		got  []Finding
		want string // severity, id and sentence, "" if there is none
	}{
		{"hardly paused", paused(2.99), ""},
		{"paused", paused(3), "look gc.paused: Collections stopped the program for 3.0 % of the time: 0 ms in 0 ms."},
		{"much paused", paused(10), "problem gc.paused: Collections stopped the program for 10.0 % of the time: 0 ms in 0 ms."},
		{"a pause", longest(199.9), "note gc.longestPause: The longest pause was 200 ms, at 0.500 s, for collection 1 (generation 2, blocking) because of AllocSmall."},
		{"a long pause", longest(1234.5), "problem gc.longestPause: The longest pause was 1.23 s, at 0.500 s, for collection 1 (generation 2, blocking) because of AllocSmall."},
		{"threads stop", suspended(19.9), ""},
		{"threads are slow to stop", suspended(20), "look gc.slowSuspend: Before the collection at 0.500 s it took 20.0 ms until all threads stood still: one of them was slow to stop."},
		{"none induced", induced(0), ""},
		{"one induced", induced(1), "look gc.induced: 1 collection was induced, by the program itself (GC.Collect and the like) or by a tool."},
		{"induced", induced(2), "look gc.induced: 2 collections were induced, by the program itself (GC.Collect and the like) or by a tool."},
		{"slow server and its client", answered(800), "look requests.slowest: The slowest endpoint is GET /800: 20 requests of 7.00 ms on average, 5 % of them of 800 ms or longer."},
		{"quick server, slow client", answered(1), "look requests.slowest: The slowest endpoint is GET /900: 20 requests of 7.00 ms on average, 5 % of them of 900 ms or longer."},
		{"a slower one, of few requests", answered(800, requests.Endpoint{Endpoint: "GET /rare", Count: 9, DurationMS: measure.Summary{P95: known(950)}}),
			"look requests.slowest: The slowest endpoint of 10 requests or more is GET /800: 20 requests of 7.00 ms on average, 5 % of them of 800 ms or longer."},
		{"too few collections", blocking(9, 9, false), ""},
		{"few of them blocking", blocking(10, 2, false), ""},
		{"all asked for", blocking(10, 10, true), ""},
		{"many blocking", blocking(10, 3, false), "look gc.fullBlocking: 3 of 10 collections were full and blocking, though nobody induced them: look at their reasons."},
		{"few large", large(10, 2), ""},
		{"grown", grown(20, 30, 29.9, 50), "look gc.heapGrows: 4 full collections left more and more: 20.0 MB at 0.000 s, 50.0 MB at 3.000 s. The program keeps it, on purpose or not; two snapshots of the heap tell which types, and who holds them."},
		{"grown, until the last", grown(20, 30, 70, 70), ""},
		{"grown by little", grown(20, 25, 30, 39), ""},
		{"grown, and given back", grown(20, 60, 30, 50), ""},
		{"grown at the begin", grown(20, 50, 50, 50, 50), ""},
		{"grown three times", grown(20, 50, 80), ""},
		{"many large", large(10, 3), "look gc.largeObjects: Large objects caused 3 of 10 collections: look for arrays that could be kept and used again."},
		{"stopped for collections", other(true, 5), ""},
		{"stopped for less than a word", other(false, 0.9), ""},
		{"stopped otherwise", other(false, 1), "note gc.otherSuspension: Threads were stopped for another reason, too: SuspendOther, 1,200 times, for 1.00 ms. If the trace has samples, this is the cost of sampling, and methods have that time."},
		{"nothing allocated", bread(nil), ""},
		{"no share", bread([]alloc.Type{{Type: "Bread"}}), ""},
		{"allocated", bread([]alloc.Type{{Type: "Bread", Bytes: 5e6, SharePercent: known(40)}}), "note alloc.topType: Most memory was allocated for Bread: 5.00 MB, 40.0 % of all."},
		{"nothing thrown", Exceptions(new(exceptions.Runtime)), ""},
		{"a few thrown", thrown(19, 1), "note exceptions.thrown: 19 exceptions were thrown; most often Bakery.Burnt, 19 times."},
		{"not caught", Exceptions(&exceptions.Runtime{Types: []exceptions.Type{{Type: "A"}}, Uncaught: []exceptions.Thrown{{AtMS: 1500, Thread: 7, Type: "A", Message: "m"}}}),
			"note exceptions.thrown: 0 exceptions were thrown; most often A, 0 times.\nlook exceptions.uncaught: No block had caught 1 exception when the trace ended, the last one at 1.500 s in thread 7: A m. Such an exception ends the process."},
		{"thrown or passed on", Exceptions(&exceptions.Runtime{Tally: exceptions.Tally{New: 1, Untold: 8}, Types: []exceptions.Type{{Type: "A", Tally: exceptions.Tally{New: 1, Untold: 4}}}}),
			"note exceptions.thrown: 9 exceptions were thrown; most often A, 5 times. Of these 8 may have been thrown before, and passed on: the trace does not tell."},
		{"many thrown", thrown(20, 1), "look exceptions.thrown: 20 exceptions were thrown; most often Bakery.Burnt, 20 times."},
		{"as many in a longer time", thrown(20, 2000), "note exceptions.thrown: 20 exceptions were thrown; most often Bakery.Burnt, 20 times."},
		{"nobody waited", waited(0), ""},
		{"waited", waited(2), "note contention.waited: Threads waited twice for locks, 4.00 ms in all; the longest wait was 3.00 ms."},
		{"a deadlock", Contention(&contention.Runtime{Open: 2, Unended: []contention.Wait{{Thread: 7, DurationMS: 2000}}, Deadlocks: []contention.Deadlock{{SinceMS: 500, ForMS: 1500, Threads: []int64{7, 8}}, {SinceMS: 1999, ForMS: 1, Threads: []int64{7, 9}}}}),
			"problem contention.deadlock: Threads 7 8 wait for each other's locks, from 0.500 s to the end, 1.50 s: a deadlock, unless a lock came to another thread in between.\n" +
				"look contention.open: 2 waits for locks were not over at the end: the longest, of thread 7, took 2.00 s until then."},
		{"open for a moment", Contention(&contention.Runtime{Open: 1, Unended: []contention.Wait{{Thread: 7, DurationMS: 2}}}), ""},
		{"a short queue", queued(99), ""},
		{"a long queue", queued(100), "look threadpool.queue: Work waited in the queue of the thread pool: 5 % of it longer than 100 ms."},
		{"starved", starved(&threadpool.Starvation{Because: []string{"one", "another"}}), "problem threadpool.starved: The thread pool starved: one; another." + untold},
		{"starved once", starved(&threadpool.Starvation{Because: []string{"one"}, FirstMS: known(1000)}), "problem threadpool.starved: The thread pool starved: one. It was seen at 1.000 s." + untold},
		{"starved and grew", starved(&threadpool.Starvation{Because: []string{"one"}, FirstMS: known(1000), LastMS: known(2000), WorkersBefore: known(2), WorkersAfter: known(9)}),
			"problem threadpool.starved: The thread pool starved: one. It began at 1.000 s and went on until 2.000 s, while the pool went from 2 to 9 workers." + untold},
		{"starved and told", starved(&threadpool.Starvation{Because: []string{"one"}, BlockedMS: known(2000), Holders: []threadpool.Holder{{Name: "Thread.Sleep in Oven.Bake", BlockedMS: 1500, Percent: 75}}}),
			"problem threadpool.starved: The thread pool starved: one. Held by: 75.0 % in Thread.Sleep in Oven.Bake, of 2.00 s in which workers were blocked."},
		{"nothing compiled", compiled(0, 0), ""},
		{"compiled", compiled(3, 499), "note jit.compiled: Compiling 3 methods took 499 ms of threads' wall-clock time."},
		{"compiled for long", compiled(3, 500), "look jit.compiled: Compiling 3 methods took 500 ms of threads' wall-clock time."},
		{"nothing failed", failed(0, 0), ""},
		{"too few requests", slow(9, 500), ""},
		{"quick requests", slow(10, 9.9), ""},
		{"slower requests", slow(10, 10), "note requests.slowest: The slowest endpoint is GET /100%/slow: 10 requests of 7.00 ms on average, 5 % of them of 10.0 ms or longer."},
		{"slow requests", slow(11, 200, requests.Cause{Kind: "awaiting", Name: "Task.Delay", TotalMS: 3}, requests.Cause{Kind: "running", TotalMS: 1}),
			"look requests.slowest: The slowest endpoint is GET /100%/slow: 11 requests of 7.00 ms on average, 5 % of them of 200 ms or longer; 75.0 % of their time was awaiting Task.Delay."},
		{"slow requests by kind", slow(11, 200, requests.Cause{Kind: "running", TotalMS: 4}, requests.Cause{Kind: "awaiting", TotalMS: 3}, requests.Cause{Kind: "awaiting", Name: "in %.Send", TotalMS: 2}, requests.Cause{Kind: "awaiting", Name: "Task.Delay", TotalMS: 1}),
			"look requests.slowest: The slowest endpoint is GET /100%/slow: 11 requests of 7.00 ms on average, 5 % of them of 200 ms or longer; 60.0 % of their time was awaiting, 2.00 ms of it in %.Send."},
		{"slow requests to somewhere", slowTo(requests.NoEndpoint, 10, 10), "note requests.slowest: The slowest requests are those whose endpoint is not in the trace: 10 requests of 7.00 ms on average, 5 % of them of 10.0 ms or longer."},
		{"requests hang", Requests(&requests.Process{Tasks: []requests.Task{{Endpoints: []requests.Endpoint{{Endpoint: "/a", Open: 1, OpenMS: known(900), DurationMS: measure.Summary{Max: known(901)}},
			{Endpoint: "/b%", Open: 2, OpenMS: known(300), DurationMS: measure.Summary{Max: known(20)}}, {Endpoint: "/c", Open: 1, OpenMS: known(199)}}}}}),
			"look requests.open: Not over at the end: 2 requests of /b%, the longest after 300 ms; of those that were over the longest took 20.0 ms."},
		{"requests all hang", Requests(&requests.Process{Tasks: []requests.Task{{Endpoints: []requests.Endpoint{{Endpoint: "/c", Open: 1, OpenMS: known(200)}}}}}),
			"look requests.open: Not over at the end: 1 request of /c, the longest after 200 ms."},
		{"one failed", failed(1), "look requests.failed: 1 activity failed: 1 of Shop/Order0."},
		{"failed where it was served", served(3), "look requests.failed: 3 activities failed: 3 of Http/Out (shop/fail 2, shop/late 1). Within them: 3 of Web/In (GET /fail 2, GET /late 1)."},
		{"others asked, too", served(2), "look requests.failed: 4 activities failed: 3 of Http/Out (shop/fail 2, shop/late 1), 1 of Web/In (GET /fail 2, GET /late 1)."},
		{"many failed", failed(1, 0, 2, 1, 1, 1), "look requests.failed: 6 activities failed: 1 of Shop/Order0, 2 of Shop/Order2, 1 of Shop/Order3, 1 of Shop/Order4, and others."},
		{"code without a name", Code("CPU time", "0x7f10", 31, 50, 0, false, false), "note cpu.topMethod: CPU time: 62.0 % was spent in code at 0x7f10, of which the trace has no name."},
		{"a wait for a lock", stuck(Stay{7, "Bakery.Oven", 1000, true, true}, Stay{8, "Bakery.Sink", 900, true, false}), "look stacks.waitedForLock: 1 thread waited for a lock in all samples of 1.00 s: thread 7 in Bakery.Oven. If no event tells of these waits, they began before the recording."},
		{"waits of workers", stuck(Stay{7, "Bakery.Oven", 1000, false, true}, Stay{8, "Bakery.Sink", 1500, false, true}, Stay{9, "Bakery.Door", 1500, false, false}), "look stacks.workersWaited: 2 threads waited as workers of the thread pool in all samples of 1.50 s: thread 7 in Bakery.Oven, thread 8 in Bakery.Sink. Until they go on, they take no other work."},
		{"a worker that waits", stuck(Stay{7, "Bakery.Oven", 1000, false, true}), ""},
		{"a method", Code("Thread time", "Oven.Bake", 62, 100, 0, false, false), "note cpu.topMethod: Thread time: 62.0 % was spent in Oven.Bake itself."},
		{"a method, by the runtime", Code("Thread time", "Oven.Bake", 62, 100, 0, false, true), "note cpu.topMethod: Thread time: 62.0 % was spent in Oven.Bake itself, by the runtime's sampler, which meets code where it polls or returns."},
		{"a method beside waiting", Code("Thread time", "Oven.Bake", 31, 100, 50, false, false), "note cpu.topMethod: Thread time without waiting: 62.0 % was spent in Oven.Bake itself."},
		{"a method that may wait", Code("Thread time", "Shop.Nap", 31, 100, 50, true, false), "note cpu.topMethod: Thread time, of most of which nothing tells whether threads worked or waited: 62.0 % was spent in Shop.Nap itself."},
		{"code without a name beside waiting", Code("Thread time", "0x7f10", 31, 100, 50, false, false), ""},
		{"waiting alone", Code("Thread time", "[waiting]", 50, 50, 50, false, false), ""},
		{"nothing lost", lost(0), ""},
		{"one lost", lost(1), "look trace.lost: At least 1 event was lost when the trace was recorded, 0.1 % of all: counts and sums are lower bounds."},
		{"much lost", lost(1000), "problem trace.lost: At least 1,000 events were lost when the trace was recorded, 50.0 % of all: counts and sums are lower bounds."},
	} {
		var said []string
		for _, f := range test.got {
			said = append(said, fmt.Sprintf("%s %s: %s", f.Severity, f.ID, f.Text))
			if part, _, _ := strings.Cut(f.ID, "."); f.Part != part && f.Part != "" || f.Figures == nil || f.Severity.rank() < 0 {
				t.Errorf("%s: %+v", test.name, f)
			}
			if !strings.Contains(string(page), "`"+f.ID+"`") {
				t.Errorf("docs/report.md lacks %s", f.ID)
			}
			for _, x := range f.Figures {
				if x.Name == "" || x.Unit == "" || math.IsNaN(x.Value) || !strings.Contains(f.Text, x.String()) {
					t.Errorf("%s: %+v is not in %s", test.name, x, f.Text)
				}
			}
		}
		if got := strings.Join(said, "\n"); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// nothing returns the result of a trace without events.
func nothing() *analysis.Result {
	var mux etw.Mux
	return analysis.New(&mux).Result()
}

// Of samples drawn at random and of ticks, the former count.
func TestBestNumbers(t *testing.T) {
	share := []alloc.Type{{Type: "Bread", Bytes: 5e6, SharePercent: known(40)}}
	if f := Alloc(&alloc.Runtime{Ticks: &alloc.Ticks{Types: []alloc.Type{{Type: "Roll", SharePercent: known(90)}}}, Samples: &alloc.Samples{Types: share}}); len(f) != 1 || !strings.Contains(f[0].Text, "Bread") {
		t.Errorf("%+v", f)
	}
}

// A collection without an end has no pause that could be the longest.
func TestIncomplete(t *testing.T) {
	if f := GC(&gc.Runtime{Count: 1, GCs: []*gc.GC{{PauseMS: known(500), Unfinished: true}}}); len(f) != 0 {
		t.Errorf("%+v", f)
	}
}

// All findings are of the runtimes whose results they are from, the worst first.
func TestOf(t *testing.T) {
	if list := Of(nothing()); len(list) != 0 {
		t.Errorf("of nothing: %+v", list)
	}
	r := nothing()
	r.Lost, r.Records = 1, 999
	r.GC.Runtimes = []*gc.Runtime{{PID: 1, CLRInstance: 9, Life: 2, Count: 1, PausePercent: known(5), PauseMS: 50, SpanMS: 1000}}
	r.Alloc.Runtimes = []*alloc.Runtime{{PID: 2, Ticks: &alloc.Ticks{Types: []alloc.Type{{Type: "Bread", SharePercent: known(40)}}}}}
	r.Exceptions.Runtimes = []*exceptions.Runtime{{PID: 3, Tally: exceptions.Tally{New: 1}, Types: []exceptions.Type{{Type: "Burnt", Tally: exceptions.Tally{New: 1}}}}}
	r.Contention.Runtimes = []*contention.Runtime{{PID: 4, Count: 1}}
	r.ThreadPool.Runtimes = []*threadpool.Runtime{{PID: 5, Starvation: &threadpool.Starvation{Because: []string{"one"}}}}
	r.JIT.Runtimes = []*jit.Runtime{{PID: 6, Count: 1}}
	r.Requests.Processes = []*requests.Process{{PID: 7, Life: 1, Tasks: []requests.Task{{Errors: measure.Known(1)}}}}
	list := Of(r)
	var got []string
	for _, f := range list {
		got = append(got, fmt.Sprintf("%s %d %d %d %q", f.ID, f.PID, f.CLRInstance, f.Life, f.Part))
	}
	want := []string{`threadpool.starved 5 0 0 "threadpool"`, `trace.lost 0 0 0 ""`, `gc.paused 1 9 2 "gc"`, `requests.failed 7 0 1 "requests"`,
		`alloc.topType 2 0 0 "alloc"`, `exceptions.thrown 3 0 0 "exceptions"`, `contention.waited 4 0 0 "contention"`, `jit.compiled 6 0 0 "jit"`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if f := list[2].Figures; len(f) != 3 || f[0].Name != "pausePercent" || f[0].Value != 5 || f[0].Unit != Percent || f[1].Value != 50 || f[1].Unit != Milliseconds {
		t.Errorf("%+v", f)
	}
}
