package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// The times of another program are read from its lines, the best of its inputs
// counts, and a ratio comes with its spread.
func TestComparison(t *testing.T) {
	var rounds []times
	for _, theirs := range []string{"0.009", "0.004", "0.012"} {
		round := times{}
		round.addWays("TraceEvent", "way,input,best s\nb all events,file,0.5\nb all events,memory,"+theirs+"\n")
		round.addWays("ours", "b all events,file,0.002,0.003\nb all events,memory,0.004,0.005\n")
		round["ours process stat"] = round["TraceEvent b all events"]
		round.addBound("x.nettrace: 7 events: headers 0.50 ms 9.1 ns, merged 1.00 ms 13.8 ns")
		rounds = append(rounds, round)
	}
	if got := rounds[0]["bound headers"]; math.Abs(got-0.0005) > 1e-12 {
		t.Errorf("bound: %v s, want 0.0005", got)
	}
	var out strings.Builder
	for _, c := range comparisons {
		c.print(&out, "x.nettrace", rounds)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	want := "x.nettrace TraceEvent, every event by time 9.000 2.000 4.50 2.00 to 6.00 x.nettrace bound, by time 1.000 2.000 0.50 0.50 to 0.50 x.nettrace process of stat 9.000 4.000 to 12.000"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Each way reads recorded traces, from the disk and from memory.
func TestWays(t *testing.T) {
	files := testio.Glob(t, filepath.Join("..", "..", "recorded", "*.nettrace"))
	for _, file := range files {
		data := testio.Read(t, file)
		for _, w := range ways {
			for _, input := range []string{"file", "memory"} {
				if err := w.once(file, data, input); err != nil && !isIncomplete(err) {
					t.Errorf("%s, %s: %s: %v", w.name, input, filepath.Base(file), err)
				}
			}
		}
	}
}

// An .etl file is held against the bound for it alone, and missing tools are named.
func TestETL(t *testing.T) {
	round := times{}
	round.addBound("x.etl: 9 records, 4.9 MB (23.0 unpacked): 20.62 ms, 8.7 M records/s, 114.9 ns each")
	if got := round["bound etl"]; math.Abs(got-0.02062) > 1e-12 {
		t.Errorf("bound: %v s, want 0.02062", got)
	}
	h := etltest.DefaultHeader()
	data := testio.Encoded(t, etltest.File, h, &etw.Record{ID: 7, PointerSize: etw.Ptr64, Timestamp: h.Clock.Origin + 1})
	file := filepath.Join(t.TempDir(), "x.etl")
	testio.Write(t, file, data)
	var out strings.Builder
	if err := measure(&out, file, 1); err != nil {
		t.Fatal(err)
	}
	round.addWays("ours", out.String())
	if round["ours b all events"] <= 0 || round["ours etl records alone"] <= 0 {
		t.Errorf("got %s", out.String())
	}
	if lines := (&cast{bound: "b"}).absent(); len(lines) != 3 || !strings.Contains(lines[1], "-boundetl") {
		t.Errorf("got %q", lines)
	}
}

// collections is a trace of n collections that began, of two threads.
func collections(t *testing.T, n int) []byte {
	t.Helper()
	payload, err := (&clr.GCStartV1{Count: 1, Depth: 2, ClrInstanceID: 3}).AppendPayload(nil, etw.Ptr64)
	if err != nil {
		t.Fatal(err)
	}
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{ID: 1, Provider: clr.Provider.Desc.Name, EventID: 1, Version: 1})
	for i := 0; i < n; i += 100 {
		var events []nettracetest.Event
		for j := range 100 {
			events = append(events, nettracetest.Event{
				Metadata: 1, Thread: uint64(1 + j/10%2), Time: int64(i + j), SortPoint: j == 0, Payload: payload,
			})
		}
		w.Events(events...)
	}
	w.End()
	return w.Bytes()
}

// The allocations of reading, sorting and typed handlers do not grow with the number of
// events. This is the guard of their speed: time means nothing on a busy machine.
func TestAllocations(t *testing.T) {
	const few, many = 1_000, 100_000
	for _, w := range ways[:3] {
		allocations := func(n int) float64 {
			data := collections(t, n)
			before := sink
			count := testing.AllocsPerRun(3, func() {
				if err := w.once("", data, "memory"); err != nil {
					t.Fatal(err)
				}
			})
			if sink-before < uint64(n) {
				t.Errorf("%s: the events did not come", w.name)
			}
			return count
		}
		if n := allocations(many) - allocations(few); n > (many-few)/100 {
			t.Errorf("%s: %v allocations for %d events", w.name, n, many-few)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"-rounds", "0", "x"}, {"-measure", "no such file"}} {
		if err := run(args, new(strings.Builder)); err == nil {
			t.Errorf("versus %v: no error", args)
		}
	}
	if err := measure(new(strings.Builder), "main.go", 1); err == nil || !strings.Contains(err.Error(), nettrace.ErrFormat.Error()) {
		t.Errorf("error %v, want %v", err, nettrace.ErrFormat)
	}
}
