package ask

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// A laneKey is a lane, of which a table has the sum, too.
type laneKey struct {
	kind timeline.Kind
	pid  int64
	of   string
}

// laneSums are the totals of lanes: sums, or the highest of levels.
type laneSums map[laneKey]float64

func (s laneSums) add(kind timeline.Kind, pid int64, of string, v float64) {
	if v != 0 {
		s[laneKey{kind, pid, of}] += v
	}
}

func (s laneSums) rise(kind timeline.Kind, pid int64, v float64) {
	if k := (laneKey{kind, pid, ""}); v != 0 {
		s[k] = max(s[k], v)
	}
}

// tables has the analyses whose results are tables.
type tables struct {
	mux        etw.Mux
	gc         *gc.Analysis
	alloc      *alloc.Analysis
	jit        *jit.Analysis
	exceptions *exceptions.Analysis
	contention *contention.Analysis
	waits      *waits.Analysis
	pool       *threadpool.Analysis
	requests   *requests.Analysis
	counters   *counters.Analysis
	threads    *threads.Analysis
	files      *system.Files
	network    *system.Network
	cpu        *samples.Processors
	named      func(*stacks.Samples) *stacks.Profile
}

func newTables(t *trace.Trace) *tables {
	x := new(tables)
	x.gc, x.alloc, x.jit, x.exceptions = gc.New(&x.mux), alloc.New(&x.mux), jit.New(&x.mux), exceptions.New(&x.mux)
	x.contention, x.waits, x.pool = contention.New(&x.mux), waits.New(&x.mux), threadpool.New(&x.mux)
	x.threads, x.files, x.cpu = threads.New(&x.mux), system.FilesOf(&x.mux), samples.NewProcessors(&x.mux)
	x.network = system.NewNetwork(&x.mux)
	x.cpu.Linux.SetInterval(code.SamplingInterval(t))
	x.requests, x.counters = requests.New(&x.mux), counters.New(&x.mux)
	return x
}

// sums returns the sums of the tables.
func (x *tables) sums() laneSums {
	s := laneSums{}
	for _, rt := range x.gc.Result().Runtimes {
		s.add(timeline.GCPause, rt.PID, "", rt.PauseMS)
		s.rise(timeline.Heap, rt.PID, rt.All.MaxPeakMB.Or(0))
	}
	for _, rt := range x.alloc.Result().Runtimes {
		switch {
		case rt.Ticks != nil:
			s.add(timeline.Allocated, rt.PID, "", float64(rt.Ticks.Bytes)/1e6)
		case rt.Samples != nil:
			s.add(timeline.Allocated, rt.PID, "", rt.Samples.Bytes/1e6)
		case rt.Exact != nil:
			s.add(timeline.Allocated, rt.PID, "", float64(rt.Exact.Bytes)/1e6)
		}
	}
	for _, rt := range x.exceptions.Result().Runtimes {
		s.add(timeline.Exceptions, rt.PID, "", float64(rt.Count))
	}
	for _, rt := range x.jit.Result().Runtimes {
		s.add(timeline.Compiling, rt.PID, "", rt.ExclusiveMS)
	}
	for _, rt := range x.contention.Result().Runtimes {
		s.add(timeline.Contention, rt.PID, "", rt.TotalMS)
	}
	for _, rt := range x.waits.Result().Runtimes {
		s.add(timeline.Waits, rt.PID, "", rt.TotalMS)
	}
	for _, rt := range x.pool.Result().Runtimes {
		s.rise(timeline.Workers, rt.PID, float64(rt.MaxWorkers))
	}
	for _, p := range x.requests.Result().Processes {
		for i := range p.Tasks {
			of := strings.Trim(p.Tasks[i].Provider+"/"+p.Tasks[i].Task, "/")
			s.add(timeline.Requests, p.PID, of, float64(p.Tasks[i].Count))
			s.add(timeline.RequestTime, p.PID, of, p.Tasks[i].DurationMS.Total)
			if c := p.Tasks[i].Causes; c != nil {
				for kind, ms := range c.Parts() {
					s.add(timeline.Causes, p.PID, of+": "+kind, ms)
				}
			}
		}
	}
	for _, f := range x.files.Result().Files {
		for _, d := range f.Disks {
			s.add(timeline.Disk, 0, "", d.MS) // of all processes together
		}
	}
	for _, c := range x.network.Result().Connections {
		s.add(timeline.Network, int64(c.PID), "", float64(c.BytesSent+c.BytesReceived)/1e6)
	}
	x.ofThreads(s)
	x.ofCounters(s)
	return s
}

func (x *tables) ofThreads(s laneSums) {
	for _, t := range x.threads.Result().Threads {
		s.add(timeline.Running, t.PID, "", t.RunningMS)
	}
	found := code.Gather(x.cpu)
	if res := x.cpu.Threads.Result(); res.Samples > 0 && len(found.Samples) > 0 && found.Samples[0].Kind != timelineCPU {
		p, awake := x.named(found.Samples[0]), make(map[int64]float64) // of processes whose states are untold
		for v := range p.Samples() {
			if v.Labels[0].Value != cpu.Untold {
				continue
			}
			ms := float64(v.Values[1]) / 1e6
			if p.IsWaiting(v.Stack) {
				ms = 0
			}
			awake[v.Process] += ms
		}
		for _, t := range res.Threads {
			s.add(timeline.ThreadTime, t.Process, "", t.TimeMS)
			if _, untold := awake[t.Process]; !untold {
				s.add(timeline.Managed, t.Process, "", t.ManagedMS)
			}
		}
		for pid, ms := range awake {
			s.add(timeline.Awake, pid, "", ms)
		}
		return
	}
	for _, list := range found.Samples {
		for v := range list.All() {
			s.add(timeline.CPU, v.Process, "", float64(v.Values[1])/1e6)
		}
	}
}

const timelineCPU = "cpu"

func (x *tables) ofCounters(s laneSums) {
	for _, p := range x.counters.Result().Processes {
		for _, m := range p.Metrics {
			for _, point := range m.Points {
				if m.GoesDown() {
					s.rise(timeline.Counter, p.PID, point.Value.Or(0))
				} else if v, ok := point.Rate.Get(); ok {
					s.add(timeline.Counter, p.PID, m.Meter+"/"+m.Instrument, v)
				} else if point.Value.IsZero() {
					s.add(timeline.Counter, p.PID, m.Meter+"/"+m.Instrument, point.Count.Or(0))
				}
			}
		}
		for _, c := range p.Counters {
			for _, point := range c.Points {
				if c.Type == "Sum" {
					s.add(timeline.Counter, p.PID, c.Provider+"/"+c.Name, point.Increment.Or(0))
				}
			}
		}
	}
}

// laneTotals returns the totals of the lanes of a timeline, and holds their buckets against it.
func laneTotals(t *testing.T, where string, res *timeline.Result) laneSums {
	t.Helper()
	s := laneSums{}
	for _, l := range res.Lanes {
		sum, highest := 0.0, 0.0
		for _, v := range l.Values {
			sum += v.Or(0)
			highest = max(highest, v.Or(0))
		}
		pid := l.PID
		if l.Kind == timeline.Disk {
			pid = 0
		}
		switch {
		case l.How == timeline.Sum:
			if !near(sum, l.Total.Or(0), len(l.Values)) {
				t.Errorf("%s: %s of %d: the buckets are %v, of %v", where, l.Kind, l.PID, sum, l.Total)
			}
			if of, _, counter := strings.Cut(l.Of, " "); l.Kind == timeline.Counter && counter {
				l.Of = of // its metadata
			}
			s.add(l.Kind, pid, l.Of, l.Total.Or(0))
		case l.How == timeline.Highest:
			if highest != l.Highest.Or(0) {
				t.Errorf("%s: %s of %d: the highest bucket is %v, of %v", where, l.Kind, l.PID, highest, l.Highest)
			}
			s.rise(l.Kind, pid, l.Highest.Or(0))
		}
	}
	return s
}

// near reports whether two sums of n numbers are equal but for rounding.
func near(a, b float64, n int) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))+1e-5+1e-6*float64(n)
}

// timelineTraces are the traces that timelines are tried on: all but the very large, of
// which there are few, unless all are asked for.
func timelineTraces(t *testing.T) []string {
	const most = 8 << 20
	list := append(corpus.Traces(t), corpus.Glob(t, "causes/*-full.nettrace.gz")...)
	if os.Getenv("ETWGEN_FILTER") == "all" {
		return list
	}
	return slices.DeleteFunc(list, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() > most
	})
}

// The totals of a timeline equal those of the tables, however the time is parted.
func TestTimelineSums(t *testing.T) {
	kinds := make(map[timeline.Kind]int)
	for _, path := range timelineTraces(t) {
		tr, err := trace.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		tab := newTables(tr)
		var mux etw.Mux
		names := frames.NewCodeMap(nil)
		a := newTimelineAnswer(&mux, new(timelineFlags), &Question{named: names})
		tab.named = func(s *stacks.Samples) *stacks.Profile { return names.Below("", s) }
		tab.requests.NameBy(tab.named)
		a.samplesEach(code.SamplingInterval(tr))
		var first, last time.Duration
		n := 0
		for rec, err := range tr.Records() {
			if err != nil {
				break // what is good was delivered
			}
			if err := cmp.Or(names.Mux.Dispatch(rec), tab.mux.Dispatch(rec), mux.Dispatch(rec), a.wholeMux.Dispatch(rec)); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			at := tr.Elapsed(rec)
			if n++; n == 1 {
				first, last = at, at
			}
			first, last = min(first, at), max(last, at)
		}
		want := tab.sums()
		for _, part := range []struct {
			from, to time.Duration
			buckets  int
		}{{first, last + 1, 1}, {first, last + 1, 100}, {first + (last-first)/3, last - (last-first)/3, 17}} {
			a.place(placement{origin: tr.Start().UnixNano(), from: part.from, to: part.to})
			a.draw(part.buckets)
			checkLanes(t, fmt.Sprintf("%s in %d", filepath.Base(path), part.buckets), want, laneTotals(t, filepath.Base(path), a.res), n)
		}
		for k := range want {
			kinds[k.kind]++
		}
		tr.Close()
	}
	t.Logf("lanes by kind: %v", kinds)
	for _, k := range timeline.Kinds {
		if kinds[k] == 0 {
			t.Errorf("no trace has a lane of %s", k)
		}
	}
}

func checkLanes(t *testing.T, where string, want, got laneSums, n int) {
	t.Helper()
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, k := range slices.SortedFunc(maps.Keys(all), func(a, b laneKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		if !near(want[k], got[k], n) {
			t.Errorf("%s: %s of process %d %s: the table has %v, the timeline %v", where, k.kind, k.pid, k.of, want[k], got[k])
		}
	}
}
