package linux

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A recording of this process, written and read, contradicts itself nowhere: no thread is
// off its processor while it is sampled, or goes when it is off, and all together ran no
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
