package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/linux/internal/perf"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A teller is a kernel that tells what threads of a process do, at times in ms.
type teller struct {
	t   translator
	got []string
}

func newTeller() *teller { return &teller{t: newTranslator(0)} }

func (k *teller) tell(kind perf.Kind, ms int64, tid int32) {
	k.t.take(&perf.Record{Kind: kind, PID: parentPID, TID: tid, Time: ms * 1e6, Stack: kernelStack(uint64(ms))})
	k.drain()
}

func (k *teller) drain() {
	var r etw.Record
	for k.t.next(&r, nil) {
		if r.Schema == contextSwitch {
			rested, _ := binary.Uvarint(r.Payload)
			k.got = append(k.got, fmt.Sprintf("%d off at %d for %d, in %d", r.ThreadID, r.Timestamp/1e6, rested/1e6, r.Stack.At(0)))
		} else if r.Schema == cpuSample {
			k.got = append(k.got, fmt.Sprintf("%d on at %d", r.ThreadID, r.Timestamp/1e6))
		}
	}
}

func (k *teller) end() []string {
	k.t.ended = true
	k.drain()
	return k.got
}

// A rest is told at the time of its begin. One that lasts is told in parts, and the last one
// ends with the recording.
func TestRests(t *testing.T) {
	k := newTeller()
	k.tell(perf.Blocked, 10, 1)
	k.tell(perf.Sample, 12, 2)
	k.tell(perf.Blocked, 13, 2)
	k.tell(perf.Resumed, 15, 1)
	k.tell(perf.Sample, 16, 1)
	k.tell(perf.Resumed, 17, 3) // it was off before the recording
	if want := []string{"1 off at 10 for 5, in 10", "2 on at 12"}; !cmp.Equal(k.got, want) {
		t.Errorf("before 2 is back: %q", k.got)
	}
	k.tell(perf.Sample, 900, 1)
	k.tell(perf.Sample, 1100, 1)
	k.tell(perf.Resumed, 1150, 2)
	k.tell(perf.Blocked, 1200, 1)
	k.tell(perf.Sample, 1300, 2)
	want := []string{
		"1 off at 10 for 5, in 10", "2 on at 12", "2 off at 13 for 1087, in 13", "1 on at 16", "1 on at 900", "1 on at 1100",
		"2 off at 1100 for 50, in 13", "1 off at 1200 for 100, in 1200", "2 on at 1300",
	}
	if diff := cmp.Diff(want, k.end()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if k.t.stats.Switches != 2 || len(k.t.rests.open) > 0 {
		t.Errorf("%+v, %d are open", k.t.stats, len(k.t.rests.open))
	}
}

// Of what contradicts itself, since records were lost, and of threads that have ended,
// nothing is told.
func TestUntoldRests(t *testing.T) {
	k := newTeller()
	k.tell(perf.Blocked, 10, 1)
	k.tell(perf.Sample, 20, 1) // it was back
	k.tell(perf.Blocked, 30, 2)
	k.tell(perf.Blocked, 40, 2) // so was this one
	k.tell(perf.Resumed, 41, 2)
	k.tell(perf.Exit, 50, 1)
	k.tell(perf.Blocked, 51, 1) // and never comes back
	k.tell(perf.Fork, 60, 1)    // another thread
	k.tell(perf.Blocked, 61, 1)
	k.tell(perf.Blocked, 62, 0) // a processor without work
	k.tell(perf.Resumed, 63, 1)
	k.tell(perf.Blocked, 64, 1)
	k.tell(perf.Exit, 65, 1) // elsewhere
	want := []string{"1 on at 20", "2 off at 40 for 1, in 40", "1 off at 61 for 2, in 61"}
	if diff := cmp.Diff(want, k.end()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever threads do, records come in the order of time, and all that was told of a thread
// adds up to what it did.
func TestRestsAddUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tr := newTranslator(0)
	const many = 20
	var offSince, rested, told [many]int64 // by thread
	for i := range offSince {
		offSince[i] = -1
	}
	now, last, held := int64(0), int64(0), 0
	drain := func() {
		var r etw.Record
		for tr.next(&r, nil) {
			if r.Timestamp < last {
				t.Fatalf("%d after %d", r.Timestamp, last)
			}
			last = r.Timestamp
			if n, _ := binary.Uvarint(r.Payload); r.Schema == contextSwitch {
				told[r.ThreadID-1] += int64(n)
			}
		}
		held = max(held, len(tr.queue.list))
	}
	for range 100_000 {
		now += rnd.Int64N(int64(2 * time.Millisecond))
		i := rnd.IntN(many)
		if i == 0 && rnd.IntN(50) > 0 {
			continue // this one rests for seconds
		}
		r := perf.Record{Kind: perf.Blocked, PID: parentPID, TID: int32(i + 1), Time: now}
		if offSince[i] >= 0 {
			r.Kind = perf.Resumed
			rested[i] += now - offSince[i]
			offSince[i] = -1
		} else {
			offSince[i] = now
		}
		tr.take(&r)
		drain()
	}
	tr.ended = true
	drain()
	for i := range rested {
		if offSince[i] >= 0 {
			rested[i] += tr.last - offSince[i]
		}
	}
	if rested != told {
		t.Errorf("told %v\nwant %v", told, rested)
	}
	if held > 5000 || len(tr.rests.open) > 0 {
		t.Errorf("%d records were held, %d rests are open", held, len(tr.rests.open))
	}
}

// What is recorded of this process, written and read, contradicts itself nowhere: no thread
// is off its processor while it is sampled, or goes when it is off, and all together ran no
// longer than the processors of the machine.
func TestLiveRests(t *testing.T) {
	s, err := Start(Config{Processes: []int{os.Getpid()}})
	if err != nil {
		t.Skipf("nothing can be sampled here: %v", err)
	}
	defer s.Close()
	begun := time.Now()
	go func() {
		for time.Since(begun) < 300*time.Millisecond {
			time.Sleep(time.Millisecond)
			for work := time.Now(); time.Since(work) < 2*time.Millisecond; {
			}
		}
		s.Stop()
	}()
	var file bytes.Buffer
	h := s.Header()
	w, err := nettrace.NewWriter(&file, nettrace.Header{Version: 6, Clock: h.Clock, PointerSize: h.PointerSize, ProcessID: -1, Processors: h.Processors})
	for r, failed := range s.Records() {
		err = errors.Join(err, failed, w.Write(r))
	}
	took := time.Since(begun)
	r, failed := nettrace.NewReader(&file)
	if err = errors.Join(err, w.Close(), failed); err != nil {
		t.Fatal(err)
	}
	var mux etw.Mux
	a, sampled := threads.New(&mux), cpu.NewLinux(&mux)
	if err := mux.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	res := a.Result()
	if res.Switches == 0 || res.Gaps > 0 {
		t.Errorf("%d switches, %d gaps", res.Switches, res.Gaps)
	}
	if most := float64(took.Milliseconds()+1) * float64(runtime.NumCPU()); res.RunningMS > most {
		t.Errorf("threads ran for %v ms, of %v", res.RunningMS, most)
	}
	samples, inside := 0, 0
	for x := range sampled.Samples()[0].All() {
		samples++
		for s := range a.Spans() {
			if s.TID == x.Thread && s.State != "running" && s.From < x.Time && x.Time < s.To {
				inside++
			}
		}
	}
	if samples == 0 || inside > 0 {
		t.Errorf("%d of %d samples are of threads that were off their processor", inside, samples)
	}
	t.Logf("%d switches, %d samples, ran %.0f ms", res.Switches, samples, res.RunningMS)
}
