package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/jit"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/runtime/etw"
)

// full returns a result with numbers in every area.
func full() *analysis.Result {
	var mux etw.Mux
	r := analysis.New(&mux).Result()
	spans := measure.Summarize([]float64{1, 2, 3, 10})
	r.GC.Runtimes = []*gc.Runtime{
		{Count: 2, PauseMS: 7, AllocatedMB: measure.Known(30), All: gc.Rollup{Induced: 1, PromotedMB: 4, MaxPeakMB: measure.Known(12)}, ByGeneration: []gc.Rollup{{Count: 1}, {}, {Count: 1}},
			GCs: []*gc.GC{{PauseMS: measure.Known(3)}, {PauseMS: measure.Known(4)}, {}}},
		{Count: 1, PauseMS: 1, AllocatedMB: measure.Known(0), All: gc.Rollup{MaxPeakMB: measure.Known(20)}, GCs: []*gc.GC{{PauseMS: measure.Known(1)}}},
	}
	r.Alloc.Runtimes, r.Alloc.Bytes, r.Alloc.Types = []*alloc.Runtime{{}}, 500, []alloc.Type{{Type: "Bread", Bytes: 400, Ticks: 4}, {Type: "Roll", Bytes: 100, Ticks: 1}}
	r.Exceptions.Runtimes, r.Exceptions.New, r.Exceptions.Types = []*exceptions.Runtime{{}}, 9, []exceptions.Type{{Type: "Burnt", Tally: exceptions.Tally{New: 9}}}
	r.JIT.Runtimes, r.JIT.Count, r.JIT.ExclusiveMS, r.JIT.InclusiveMS = []*jit.Runtime{{}}, 4, 8, 10
	r.Contention.Runtimes, r.Contention.Count, r.Contention.TotalMS = []*contention.Runtime{{DurationMS: spans}}, 4, 16
	r.Waits.Runtimes, r.Waits.Count, r.Waits.TotalMS = []*waits.Runtime{{DurationMS: spans}}, 4, 16
	r.ThreadPool.Runtimes = []*threadpool.Runtime{{MaxWorkers: 9, Starvation: new(threadpool.Starvation)}, {MaxWorkers: 4}}
	r.Heap.Snapshots = []*heap.Snapshot{{Bytes: 1}, {Bytes: 70, Objects: 7, ReachableBytes: 60, Types: []heap.Type{{Type: "Bread", Bytes: 50}}}}
	r.Requests.Processes = []*requests.Process{{Tasks: []requests.Task{{Provider: "Shop", Task: "Order", Count: 4, Errors: measure.Known(1), DurationMS: spans, Endpoints: []requests.Endpoint{{Endpoint: "/a", Count: 5, DurationMS: spans}, {Endpoint: "/few", Count: 4, DurationMS: spans}, {Endpoint: requests.NoEndpoint, Count: 9, DurationMS: spans}}}}},
		{Tasks: []requests.Task{{Provider: "Shop", Task: "Order", Count: 99}}}}
	r.Counters.Processes = []counters.Process{{
		Counters: []counters.Counter{{Provider: "System.Runtime", Name: "cpu-usage", KnownUnit: "%", Points: []counters.Point{{Mean: measure.Known(2)}, {Mean: measure.Known(4)}}}},
		Metrics: []counters.Metric{{Meter: "Shop", Instrument: "wait", Tags: "door=1", Points: []counters.MetricPoint{
			{Count: measure.Known(3), Quantiles: map[string]measure.Float{"0.95": measure.Known(8)}}}}},
	}}
	return r
}

// machine returns answers about a machine with numbers in every area. The idle process is nobody.
func machine() *Machine {
	use := system.FileFacts{PID: 7, Process: "shop.exe", Opens: 1, Reads: 2, BytesRead: 10, Writes: 1, BytesWritten: 5, Disks: []system.DiskFacts{{Reads: 4, BytesRead: 4096, Writes: 0, MS: 3, ServiceMS: 2}}}
	return &Machine{
		System: &system.Result{SampleMS: measure.Known(1),
			Processes: []system.ProcessFacts{{PID: 0, Name: "Idle", SampledMS: measure.Known(80)}, {PID: 7, Name: "shop.exe", SampledMS: measure.Known(12)}, {PID: 8, Name: "shop.exe", SampledMS: measure.Known(8)}},
			Threads: []system.ThreadFacts{{PID: 0, RanMS: measure.Known(70)}, {PID: 7, Process: "shop.exe", RanMS: measure.Known(4), Switches: measure.Known(4)},
				{PID: 8, Process: "shop.exe", RanMS: measure.Known(5), Switches: measure.Known(5)}, {PID: -1, RanMS: measure.Known(1), Switches: measure.Known(1)}}},
		Files:   &system.FilesResult{Files: []system.FileFacts{use}, Busy: []system.DiskTime{{BusyMS: 2}}},
		Faults:  &system.FaultsResult{Faults: []system.FaultFacts{{PID: 7, Process: "shop.exe", Faults: 1, Bytes: 4096, MS: 3}}},
		Threads: &threads.Result{Readies: 1, Threads: []threads.Thread{{PID: 7, Process: "shop.exe", Times: threads.Times{ReadyMS: 6}, Waits: 3}}},
		Breaks:  &interrupts.Result{Times: interrupts.Times{Count: 2, OwnMS: 1}},
		Network: &system.NetworkResult{Connections: []system.ConnectionFacts{{PID: 7, Process: "shop.exe", Sent: 2, BytesSent: 100, Received: 1, BytesReceived: 50}}},
	}
}

// Of a part of the processes are the amounts of these, and nothing that is of all; where the
// events were recorded, they are 0 at least.
func TestMachineOfProcesses(t *testing.T) {
	m := machine()
	m.Asked = func(pid int64, _ string) bool { return pid == 8 }
	got := make(map[string]float64)
	for _, f := range m.Figures() {
		got[f.Metric] = f.Value
	}
	for metric, want := range map[string]float64{"processors.ranMs": 5, "processors.sampledMs.shop.exe": 8, "disk.reads": 0, "faults.ms": 0, "network.bytesSent": 0} {
		if v, ok := got[metric]; !ok || v != want {
			t.Errorf("%s is %v, want %v", metric, v, want)
		}
	}
	if _, ok := got["disk.busyMs"]; ok {
		t.Error("the time in which disks were busy is that of all")
	}
	if !IsMinor("faults.ms.shop.exe", 1, func(string) float64 { return 200 }) || IsMinor("faults.ms", 1, func(string) float64 { return 200 }) {
		t.Error("which processes weigh little")
	}
}

// samples returns samples in pseudo frames with these names, each with one label.
func samples(kind, unit, label string, of map[string]string, value int64) *stacks.Profile {
	s := stacks.NewSamples(kind, stacks.ValueType{Name: "samples", Unit: "count"}, stacks.ValueType{Name: "weight", Unit: unit})
	for name, text := range of {
		s.AddPseudo(time.Unix(0, 0), 1, 1, 0, name, s.Label(0, label, text), 1, value)
	}
	return stacks.NewProfile(nil, stacks.Options{}, s)
}

// Every kind has a figure of a result with numbers in every area, as the kind describes it.
func TestKinds(t *testing.T) {
	list := append(Of(full()), Duration(1500*time.Millisecond))
	code := Code(samples(cpu.ThreadTime, "nanoseconds", "state", map[string]string{"Work": "managed", "Wait": "gc"}, 4e6), work.Default())
	list = append(append(list, code...), machine().Figures()...)
	metrics := make(map[string]compare.Figure)
	for _, f := range list {
		if _, twice := metrics[f.Metric]; twice || f.Area == "" || f.Name == "" || f.Unit == "" && f.Area != countersArea || math.IsNaN(f.Noise+f.Alone) {
			t.Errorf("%+v", f)
		}
		metrics[f.Metric] = f
	}
	for _, want := range []compare.Figure{
		{Metric: "gc.count", Area: "collections", Name: "count", Unit: "count", Value: 3, Noise: math.Sqrt(3), MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "gc.pauseMs", Area: "collections", Name: "pauseMs", Unit: "ms", Value: 8, Noise: math.Sqrt(26), Alone: varying * 8, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "gc.pauseMs.p50", Area: "collections", Name: "p50 pauseMs", Unit: "ms", Value: 3, Noise: errorOfP50 * math.Sqrt(7.0/9), Alone: 1, MoreIsWorse: true},
		{Metric: "gc.maxPeakMB", Area: "collections", Name: "maxPeakMB", Unit: "MB", Value: 20, MoreIsWorse: true, Alone: varying * 20},
		{Metric: "gc.induced", Area: "collections", Name: "induced", Unit: "count", Value: 1, Noise: 1, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "gc.gen2.count", Area: "collections", Name: "count of generation 2", Unit: "count", Value: 1, Noise: 1, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "alloc.bytes", Area: "allocations", Name: "bytes", Unit: "bytes", Value: 500, Noise: 500 / math.Sqrt(5), MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "alloc.bytes.Bread", Area: "allocations", Name: "bytes of Bread", Unit: "bytes", Value: 400, Noise: 200, MoreIsWorse: true, Sum: true, Grows: true, Whole: "alloc.bytes.*", Estimated: true},
		{Metric: "exceptions.count.Burnt", Area: "exceptions", Name: "count of Burnt", Unit: "count", Value: 9, Noise: 3, MoreIsWorse: true, Sum: true, Grows: true, Whole: "exceptions.count.*"},
		{Metric: "jit.inclusiveMs", Area: "compiling", Name: "inclusiveMs", Unit: "ms", Value: 10, Noise: 5, Alone: varying * 10, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "contention.totalMs", Area: "contention", Name: "totalMs", Unit: "ms", Value: 16, Noise: 16, Alone: varying * 16, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "waits.count", Area: "waits", Name: "count", Unit: "count", Value: 4, Noise: 4, Sum: true, Grows: true},
		{Metric: "threadPool.maxWorkers", Area: "thread pool", Name: "maxWorkers", Unit: "count", Value: 9, Noise: 3},
		{Metric: "threadPool.starving", Area: "thread pool", Name: "runtimes that starve", Unit: "count", Value: 1, MoreIsWorse: true},
		{Metric: "heap.bytes", Area: "heap", Name: "bytes", Unit: "bytes", Value: 70, MoreIsWorse: true, Sum: true},
		{Metric: "heap.bytes.Bread", Area: "heap", Name: "bytes of Bread", Unit: "bytes", Value: 50, MoreIsWorse: true, Sum: true, Whole: "heap.bytes.*"},
		{Metric: "requests.Shop/Order.count", Area: "requests of Shop", Name: "count of Shop/Order", Unit: "count", Value: 4, Noise: 2, Sum: true, Grows: true},
		{Metric: "requests.Shop/Order.ms.max", Area: "requests of Shop", Name: "max ms of Shop/Order", Unit: "ms", Value: 10, Noise: errorOfMax * math.Sqrt(50.0/3) / 2, Alone: 7.5, MoreIsWorse: true},
		{Metric: "counters.System.Runtime/cpu-usage", Area: "counters", Name: "mean mean of System.Runtime/cpu-usage ", Unit: "%", Value: 3, Noise: 1, Alone: varying * 3},
		{Metric: "counters.Shop/wait{door=1}.quantile 0.95", Area: "counters", Name: "mean quantile 0.95 of Shop/wait door=1", Value: 8, Noise: 8, Alone: varying * 8},
		{Metric: "trace.durationMs", Area: "trace", Name: "durationMs", Unit: "ms", Value: 1500, Alone: varying * 1500},
		{Metric: "cpu.ms", Area: "cpu", Name: "ms", Unit: "ms", Value: 4, Noise: 8, Alone: varying * 4, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "processors.sampledMs", Area: samplesArea, Name: "ms", Unit: "ms", Value: 20, Noise: 20 / math.Sqrt(5), Alone: varying * 20, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "processors.ranMs.shop.exe", Area: switchesArea, Name: "ms of shop.exe", Unit: "ms", Value: 9, Noise: 3, Alone: varying * 9, MoreIsWorse: true, Sum: true, Grows: true, Whole: "processors.ranMs.*"},
		{Metric: "processors.ranMs.(unknown)", Area: switchesArea, Name: "ms of (unknown)", Unit: "ms", Value: 1, Noise: 1, Alone: varying, MoreIsWorse: true, Sum: true, Grows: true, Whole: "processors.ranMs.*"},
		{Metric: "disk.bytesRead.shop.exe", Area: "disks", Name: "bytesRead of shop.exe", Unit: "bytes", Value: 4096, Noise: 2048, MoreIsWorse: true, Sum: true, Grows: true, Whole: "disk.bytesRead.*"},
		{Metric: "disk.busyMs", Area: "disks as a whole", Name: "busyMs", Unit: "ms", Value: 2, Noise: 1, Alone: varying * 2, MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "network.retransmits", Area: "network", Name: "retransmits", Unit: "count", MoreIsWorse: true, Sum: true, Grows: true},
		{Metric: "cpu.method.Work.selfMs", Area: "cpu", Name: "selfMs of Work", Unit: "ms", Value: 4, Noise: 8, Alone: varying * 4, MoreIsWorse: true, Sum: true, Grows: true},
	} {
		got := metrics[want.Metric]
		for _, x := range [][2]*float64{{&got.Value, &want.Value}, {&got.Noise, &want.Noise}, {&got.Alone, &want.Alone}} {
			if math.Abs(*x[0]-*x[1]) < 1e-9 {
				*x[0] = *x[1]
			}
		}
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	for name := range metrics {
		if strings.HasPrefix(name, "endpoints.") && !strings.HasPrefix(name, "endpoints.Shop/Order /a.ms.") {
			t.Errorf("%s, of too few requests, or of none that are known", name)
		}
	}
	for _, k := range Kinds() {
		before, after, _ := strings.Cut(k.Metric, "*")
		for name, f := range metrics {
			if strings.HasPrefix(name, before) && (k.HasQuantiles() || strings.HasSuffix(name, after)) && strings.HasPrefix(f.Area, k.Area) && f.MoreIsWorse == k.MoreIsWorse() {
				k.Metric = ""
				break
			}
		}
		if k.Metric != "" {
			t.Errorf("there is no figure of %s", k.Metric)
		}
	}
}

// An area without events has no figures, and its sums are 0 where the runtime had other
// ones.
func TestSilent(t *testing.T) {
	var mux etw.Mux
	if list := Of(analysis.New(&mux).Result()); len(list) != 0 {
		t.Errorf("of nothing: %+v", list)
	}
	var none stacks.Profile
	if list := append(Code(&none, work.Default()), Allocated(&none)...); len(list) != 0 {
		t.Errorf("of no samples: %+v", list)
	}
	var names []string
	for _, f := range Silent() {
		if names = append(names, f.Metric); f.Value != 0 || !f.Sum || f.Area == "" {
			t.Errorf("%+v", f)
		}
	}
	if got := strings.Join(names, " "); got != "gc.count gc.pauseMs alloc.bytes exceptions.count jit.count contention.count contention.totalMs waits.count waits.totalMs" {
		t.Errorf("silent are %s", got)
	}
}

// Allocations of a part of the code have the names of those of all.
func TestAllocated(t *testing.T) {
	list := Allocated(samples("allocations", "bytes", "type", map[string]string{"Work": "Bread", "Bake": "Bread", "Sell": "Roll"}, 100))
	want := map[string]float64{"alloc.bytes": 300, "alloc.bytes.Bread": 200, "alloc.bytes.Roll": 100}
	for _, f := range list {
		if f.Value != want[f.Metric] {
			t.Errorf("%+v", f)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%+v", list)
	}
}

func TestIsMinor(t *testing.T) {
	whole := func(metric string) float64 { return map[string]float64{CPUTime: 100, "profile.wall": 1000}[metric] }
	for metric, want := range map[string]float64{"cpu.method.Work.selfMs": 1, "profile.wall.method.Work.self": 10, "cpu.kind.user.ms": 0, "profile.wall": 0} {
		if !IsMinor(metric, want-0.1, whole) && want > 0 || IsMinor(metric, want, whole) {
			t.Errorf("%s: below 1 %% of the whole methods are minor, and nothing else", metric)
		}
	}
}

func TestPer(t *testing.T) {
	list := Of(full())
	per := compare.Per(list, 2)
	for i, f := range list {
		want := f.Value
		if f.Grows {
			want /= 2
		}
		if per[i].Value != want {
			t.Errorf("%s is %v of %v", f.Metric, per[i].Value, f.Value)
		}
	}
}

// TestSlowDisk: of a disk that takes twice as long for each request, which a program waits for, that is
// told first, and that it so did half as much behind it. One recording of each side is not surer of it than
// of other times, and eight times as long is beyond doubt.
func TestSlowDisk(t *testing.T) {
	recording := func(writes uint64, each float64) []compare.Figure {
		m := Machine{System: new(system.Result), Faults: new(system.FaultsResult), Network: new(system.NetworkResult), Threads: new(threads.Result), Breaks: new(interrupts.Result)}
		m.Files = &system.FilesResult{Files: []system.FileFacts{{PID: 7, Process: "backup.exe", Disks: []system.DiskFacts{
			{Disk: 1, Writes: writes, BytesWritten: writes << 20, MS: float64(writes) * (each + 1), ServiceMS: float64(writes) * each}, {Disk: 2}}}}}
		return m.Figures()
	}
	told := func(each float64) (got []string) {
		list := compare.Sides([][]compare.Figure{recording(400, 10)}, [][]compare.Figure{recording(190, each)}, compare.DefaultThreshold)
		compare.Sort(list)
		for _, c := range list[:3] {
			got = append(got, fmt.Sprintf("%s %s %.0f", c.Figure.Metric, c.Verdict, c.Percent.Or(0)))
		}
		return got
	}
	for each, want := range map[float64][]string{
		20: {"disk.requestServiceMs.1 maybeMore 100", "disk.requestMs.1 maybeMore 91", "disk.writes less -52"},
		80: {"disk.requestServiceMs.1 more 700", "disk.requestMs.1 more 636", "disk.serviceMs more 280"},
	} {
		if got := told(each); !slices.Equal(got, want) {
			t.Errorf("of %v ms: got %q, want %q", each, got, want)
		}
	}
}

// TestOpen: threads that wait for each other's locks to the end, and a request that hangs, are more,
// though fewer waits and requests ended; one that began just before the end is noise.
func TestOpen(t *testing.T) {
	recording := func(count int, open float64) []compare.Figure {
		r := full()
		x := r.Contention.Runtimes[0]
		r.Contention.Count, r.Contention.TotalMS, x.OpenMS = count, 4*float64(count), open
		r.Requests.Processes[0].Tasks[0].Unended = []requests.Activity{{DurationMS: open}}
		return Of(r)
	}
	for _, c := range []struct {
		open float64
		want compare.Verdict
	}{{3, compare.Noise}, {4000, compare.More}} {
		var got []string
		for _, x := range compare.Sides([][]compare.Figure{recording(400, 0)}, [][]compare.Figure{recording(90, c.open)}, compare.DefaultThreshold) {
			if strings.HasSuffix(x.Figure.Metric, "openMs") {
				got = append(got, fmt.Sprint(x.Figure.Metric, " ", x.Verdict))
			}
		}
		slices.Sort(got)
		if want := []string{"contention.openMs " + string(c.want), "requests.Shop/Order.openMs " + string(c.want)}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
