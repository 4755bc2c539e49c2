package window_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A machine is what a random one did: records of two processors.
type machine struct {
	t       *testing.T
	random  *rand.Rand
	clock   etw.Clock
	now     int64 // ticks
	records []*etw.Record
	reads   uint64 // of files
}

// processors is how many a machine has.
const processors = 2

// add logs an event of a processor.
func (m *machine) add(cpu int32, e etw.Event) {
	p := testio.Payload(m.t, e, etw.Ptr64)
	d := e.EventDesc()
	m.records = append(m.records, &etw.Record{Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, PointerSize: etw.Ptr64,
		Processor: cpu, Payload: p, ProcessID: -1, ThreadID: -1, Timestamp: m.now, Clock: &m.clock})
}

// newMachine returns one whose threads come and go, and which is interrupted. If lossy, some of
// the switches are missing.
func newMachine(t *testing.T, seed uint64, lossy bool) *machine {
	m := &machine{t: t, random: rand.New(rand.NewPCG(seed, 1)), clock: etw.Clock{Start: 132_000_000_000_000_000, Frequency: 2_345_678, Origin: 1000}, now: 1000}
	idle := []uint32{80, 81, 82, 90, 91}
	for _, tid := range idle {
		m.add(0, &kernel.ThreadDCStartV3{ProcessID: tid / 10, TThreadID: tid})
	}
	var runs [processors]uint32
	var last [processors]int64 // end of a routine
	for range 200 {
		m.now += m.random.Int64N(900)
		cpu := m.random.IntN(processors)
		if from := max(last[cpu], m.now-m.random.Int64N(600)); m.random.IntN(3) == 0 {
			m.add(int32(cpu), &kernel.PerfInfoDPCV2{InitialTime: uint64(from), Routine: 0xfffff80000001200})
			last[cpu] = m.now
		}
		if from := m.now - m.random.Int64N(5000); m.random.IntN(5) == 0 {
			m.add(int32(cpu), &kernel.PageFaultHardFaultV2{InitialTime: uint64(from), TThreadID: 80, ByteCount: 4096})
		}
		m.request(int32(cpu))
		if m.random.IntN(3) == 0 {
			m.add(int32(cpu), &kernel.ThreadReadyThreadV2{TThreadID: idle[m.random.IntN(len(idle))]})
		}
		e := &kernel.ThreadCSwitchV4{OldThreadID: runs[cpu], OldThreadState: kernel.ThreadStateWaiting}
		if m.random.IntN(2) == 0 {
			e.OldThreadState = kernel.ThreadStateReady
		}
		if i := m.random.IntN(len(idle) + 1); i < len(idle) {
			e.NewThreadID = idle[i]
			idle = slices.Delete(idle, i, i+1)
		}
		if e.OldThreadID != 0 {
			idle = append(idle, e.OldThreadID)
		}
		if runs[cpu] = e.NewThreadID; e.NewThreadID == e.OldThreadID || lossy && m.random.IntN(20) == 0 {
			continue
		}
		m.add(int32(cpu), e)
	}
	return m
}

// request logs that a request to a file begins or is over, or that a disk answers one.
func (m *machine) request(cpu int32) {
	irp := etw.Pointer(1 + m.random.IntN(3))
	switch m.random.IntN(4) {
	case 0:
		m.reads++
		m.add(cpu, &kernel.FileIoReadV3{IrpPtr: irp, FileKey: 0xa, TTID: 80, IoSize: 100})
	case 1:
		m.add(cpu, &kernel.FileIoOperationEndV3{IrpPtr: irp})
	case 2:
		m.add(cpu, &kernel.DiskIoReadV3{TransferSize: 512, HighResResponseTime: uint64(m.random.Int64N(3000)), IssuingThreadID: 80})
	}
}

// at returns a moment of the machine, so long after its session began; 0 is no bound.
func (m *machine) at(elapsed time.Duration) time.Time {
	if elapsed == 0 {
		return time.Time{}
	}
	return m.clock.Start.Time().Add(elapsed)
}

// figures returns those of the part between two times that add up, by their names.
func (m *machine) figures(from, to time.Duration) map[string]float64 {
	var mux etw.Mux
	ran, used, breaks, faults, files := threads.New(&mux), system.NewUsage(&mux), interrupts.New(&mux), system.NewFaults(&mux), system.FilesOf(&mux)
	if from != 0 || to != 0 {
		window.Of(&mux).Between(m.at(from), m.at(to))
	}
	for _, r := range m.records {
		if err := mux.Dispatch(r); err != nil {
			m.t.Fatal(err)
		}
	}
	used.Settle()
	sums := make(map[string]float64)
	res := ran.Result()
	for _, x := range res.Threads {
		name := fmt.Sprintf("thread %d ", x.TID)
		sums[name+"life"] = x.LifeMS
		sums[name+"running"], sums[name+"ready"], sums[name+"waiting"], sums[name+"unknown"] = x.RunningMS, x.ReadyMS, x.WaitingMS, x.UnknownMS
		sums[name+"switches"] = float64(x.Switches)
		if parts := x.RunningMS + x.ReadyMS + x.WaitingMS + x.UnknownMS; !near(parts, x.LifeMS) {
			m.t.Errorf("%v to %v: thread %d lives for %v ms, and does something for %v", from, to, x.TID, x.LifeMS, parts)
		}
	}
	busy := 0.0
	for _, p := range res.Processors {
		name := fmt.Sprintf("processor %d ", p.Number)
		sums[name+"span"], sums[name+"busy"], sums[name+"idle"] = p.SpanMS, p.BusyMS, p.IdleMS
		busy += p.BusyMS
	}
	if !near(busy, res.RunningMS) {
		m.t.Errorf("%v to %v: processors are busy for %v ms, and threads run for %v", from, to, busy, res.RunningMS)
	}
	if most := processors * float64(to-from) / 1e6; to != 0 && res.RunningMS > most+1e-6 {
		m.t.Errorf("%v to %v: %v ms of running, of %v", from, to, res.RunningMS, most)
	}
	sums["gaps"], sums["switches"], sums["readies"] = float64(res.Gaps), float64(res.Switches), float64(res.Readies)
	for _, p := range used.Result().Processes {
		sums[fmt.Sprintf("process %d ran", p.PID)] = p.RanMS.Or(0)
	}
	over := breaks.Result()
	sums["faults"] = faults.Result().Sum().MS
	sums["own"], sums["total"] = over.OwnMS, over.TotalMS
	asked := files.Result()
	sums["files"], sums["disk busy"] = asked.Sum().MS, asked.Busy[0].BusyMS
	for _, x := range asked.Files {
		for _, d := range x.Disks {
			sums["disk"] += d.MS
			sums["disk served"] += d.ServiceMS
		}
	}
	if n := asked.All().Reads; n != m.reads {
		m.t.Errorf("%v to %v: %d reads anywhere, want %d", from, to, n, m.reads)
	}
	return sums
}

// near allows for the tick of the clock, which is not a whole number of nanoseconds.
func near(a, b float64) bool { return math.Abs(a-b) < 5e-3 }

// lanes returns how long processes ran between two times, as a timeline has it.
func (m *machine) lanes(from, to time.Duration) map[string]float64 {
	var mux etw.Mux
	a := timeline.New(timeline.Parts{Analyses: []any{threads.New(&mux)}})
	for _, r := range m.records {
		if err := mux.Dispatch(r); err != nil {
			m.t.Fatal(err)
		}
	}
	sums := make(map[string]float64)
	for _, l := range a.Result(timeline.Options{Origin: when.Origin(m.records[0]), From: from, To: to, Buckets: 1, Cut: true}).Lanes {
		sums[fmt.Sprintf("process %d ran", l.PID)] = l.Total.Or(0)
	}
	return sums
}

// TestWindows: what threads, processors, interrupts, hard faults, files and disks did in adjacent parts of the time adds up
// to what they did in all of it, and is in each part what a timeline shows.
func TestWindows(t *testing.T) {
	for seed := range uint64(20) {
		m := newMachine(t, seed, seed%4 == 3)
		whole := m.figures(0, 0)
		if whole["processor 0 busy"] == 0 || whole["process 8 ran"] == 0 || whole["own"] == 0 || whole["faults"] == 0 || whole["files"] == 0 || whole["disk"] == whole["disk busy"] || seed%4 == 3 && whole["gaps"] == 0 {
			t.Fatalf("seed %d: nothing happens: %v", seed, whole)
		}
		end := m.clock.Elapsed(m.now)
		cuts := []time.Duration{0, 0}
		for range 3 {
			cuts = append(cuts, time.Duration(1+m.random.Int64N(int64(end)))/100*100)
		}
		slices.Sort(cuts[2:])
		cuts = append(cuts[1:], 0)
		sums := make(map[string]float64)
		for i := 1; i < len(cuts); i++ {
			part := m.figures(cuts[i-1], cuts[i])
			for name, v := range part {
				sums[name] += v
			}
			if cuts[i] == 0 {
				continue
			}
			for name, v := range m.lanes(cuts[i-1], cuts[i]) {
				if !near(v, part[name]) {
					t.Errorf("seed %d, %v to %v: %s %v ms, and in a timeline %v", seed, cuts[i-1], cuts[i], name, part[name], v)
				}
			}
		}
		for name, want := range whole {
			if !near(sums[name], want) {
				t.Errorf("seed %d: %s: the parts by %v add up to %v, not to %v", seed, name, cuts, sums[name], want)
			}
		}
	}
}

// TestWaits: the waits of threads for locks and others, in adjacent parts of the time, add up to
// those of all of it, by thread as in sum.
func TestWaits(t *testing.T) {
	clock := etw.Clock{Frequency: 1e9}
	origin := when.Origin(&etw.Record{Clock: &clock})
	for seed := range uint64(10) {
		figures := func(from, to time.Duration) map[string]float64 {
			random := rand.New(rand.NewPCG(seed, 2))
			var mux etw.Mux
			others, locks := waits.New(&mux), contention.New(&mux)
			if from != 0 || to != 0 {
				w := []time.Time{{}, {}}
				for i, x := range []time.Duration{from, to} {
					if x != 0 {
						w[i] = time.Unix(0, origin+int64(x))
					}
				}
				window.Of(&mux).Between(w[0], w[1])
			}
			s := testtrace.NewScript(t, &mux)
			var in [6]bool
			for at := time.Duration(0); at < time.Second; at += time.Duration(random.Int64N(2e7)) {
				i := random.IntN(len(in))
				events := [2]etw.Event{&clr.WaitHandleWaitStart{WaitSource: 1}, &clr.WaitHandleWaitStop{}}
				if i >= 3 {
					events = [2]etw.Event{&clr.ContentionStartV1{}, &clr.ContentionStopV1{DurationNs: 3e6}}
				}
				if in[i] = !in[i]; in[i] {
					s.Event(at, int64(10+i), events[0])
				} else {
					s.Event(at, int64(10+i), events[1])
				}
			}
			sums := make(map[string]float64)
			for _, rt := range others.Result().Runtimes {
				sums["waits"], sums["open"] = rt.TotalMS, rt.OpenMS
				for _, x := range rt.Threads {
					sums[fmt.Sprint(x.Thread)] = x.TotalMS
				}
			}
			for _, rt := range locks.Result().Runtimes {
				sums["locks"], sums["by events"] = rt.TotalMS, rt.TotalByEventsMS
				for _, x := range rt.Threads {
					sums[fmt.Sprint(x.Thread)] = x.TotalMS
				}
			}
			return sums
		}
		whole, sums := figures(0, 0), make(map[string]float64)
		cut := time.Duration(1 + seed*97e6)
		for _, part := range []map[string]float64{figures(0, cut), figures(cut, cut+10e6), figures(cut+10e6, 0)} {
			for name, v := range part {
				sums[name] += v
			}
		}
		if whole["waits"] == 0 || whole["locks"] == 0 {
			t.Fatal("nobody waits")
		}
		for name, want := range whole {
			if !near(sums[name], want) {
				t.Errorf("seed %d: %s: the parts add up to %v, not to %v", seed, name, sums[name], want)
			}
		}
	}
}
