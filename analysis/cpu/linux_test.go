package cpu

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// linuxSamples gives samples to an analysis.
func linuxSamples(t *testing.T, l *Linux) {
	t.Helper()
	take := func(name string, at int64, processor int32, value uint64, frames ...byte) {
		r := &etw.Record{ProviderName: "Universal.Events", Schema: &etw.EventDesc{Name: name}, ProcessID: 2, ThreadID: 3, Timestamp: at, Processor: processor,
			Payload: binary.AppendUvarint(nil, value), Stack: testtrace.AStack(frames...)}
		if err := l.record(r); err != nil {
			t.Fatal(err)
		}
	}
	take("cpu", 5, 0, 1, 7, 8)
	take("cpu", 6, 1, 1, 7, 8)
	take("cpu", 5+3*2e6, 0, 3, 7)
	take("cswitch", 9, 0, 9, 7)
	take("cpu", 10, 0, 1<<40, 7) // is no number of intervals
}

// Without an interval in the head of the trace it is measured.
func TestLinuxInterval(t *testing.T) {
	for given, want := range map[int64]KernelResult{
		0:   {Samples: 3, Stacks: 3, Weight: 10e6, Interval: 2e6, Measured: 2e6},
		1e6: {Samples: 3, Stacks: 3, Weight: 5e6, Interval: 1e6, Measured: 2e6},
	} {
		l := NewLinux(new(etw.Mux))
		l.SetInterval(given)
		linuxSamples(t, l)
		if res := *l.Result(); res != want {
			t.Errorf("got %+v, want %+v", res, want)
		}
	}
	if res := *NewLinux(new(etw.Mux)).Result(); res != (KernelResult{Interval: 1e6}) {
		t.Errorf("without samples: %+v", res)
	}
}

func TestLinux(t *testing.T) {
	l := NewLinux(new(etw.Mux))
	l.SetInterval(1e6)
	linuxSamples(t, l)
	s := l.Samples()[0]
	var got []string
	for x := range s.All() {
		got = append(got, fmt.Sprint(x.Process, x.Thread, s.Stack(x.Stack), x.Labels, x.Values))
	}
	want := []string{"2 3 [7 8] [{state user}] [1 1000000]", "2 3 [7 8] [{state user}] [1 1000000]", "2 3 [7] [{state user}] [1 3000000]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// readUniversal returns the code and the samples of a trace of a recorder of Linux.
func readUniversal(t *testing.T, path string) (*symbols.Analysis, *Linux) {
	t.Helper()
	var mux etw.Mux
	code, l := symbols.New(&mux), NewLinux(&mux)
	testtrace.Run(t, &mux, path)
	return code, l
}

// The samples of each process, and the frames with names, are at least those that
// TraceEvent has.
func TestUniversalTraces(t *testing.T) {
	traces := 0
	for _, path := range corpus.Glob(t, "universal/*.nettrace") {
		var peer struct {
			Tables map[string]map[string]int64
		}
		if !testtrace.JSON(t, strings.TrimSuffix(path, ".nettrace")+".traceevent.json", &peer) {
			continue
		}
		traces++
		code, l := readUniversal(t, path)
		res := l.Result()
		if res.Interval < 99e4 || res.Interval > 101e4 { // all were told to take one each millisecond
			t.Errorf("%s: samples are %d ns apart", filepath.Base(path), res.Interval)
		}
		p := stacks.NewProfile(code.Table(), stacks.Options{Native: code.Native}, l.Samples()...)
		want := map[string]int64{}
		for pid, n := range peer.Tables["cpu by process"] {
			want[pid] = n
		}
		for s := range p.Samples() {
			want[fmt.Sprint(s.Process)] -= s.Values[0]
		}
		for pid, n := range want {
			if n != 0 {
				t.Errorf("%s: TraceEvent has %d more samples of process %s", filepath.Base(path), n, pid)
			}
		}
		// A call at the end of a function returns to the next one, which TraceEvent names.
		if named := peer.Tables["cpu frames"]["with method"]; p.Naming.Named < named-named/1000 {
			t.Errorf("%s: %+v; TraceEvent names %d frames", filepath.Base(path), p.Naming, named)
		}
		t.Logf("%s: %d samples, %+v", filepath.Base(path), res.Samples, p.Naming)
	}
	t.Logf("%d traces", traces)
}
