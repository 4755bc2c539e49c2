package nettrace_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// traceEventNames holds the names that the reference implementation prints for
// events whose names are not in the stream.
var traceEventNames = map[string]map[uint16]string{
	"Microsoft-DotNETCore-SampleProfiler": {0: "Thread/Sample"},
	"Microsoft-Windows-DotNETRuntime": {
		1: "GC/Start", 2: "GC/Stop", 3: "GC/RestartEEStop", 4: "GC/HeapStats", 7: "GC/RestartEEStart", 8: "GC/SuspendEEStop",
		9: "GC/SuspendEEStart", 10: "GC/AllocationTick", 13: "GC/FinalizersStop", 14: "GC/FinalizersStart",
		22: "GC/BulkMovedObjectRanges", 23: "GC/GenerationRange", 33: "GC/PinObjectAtGCTime", 35: "GC/Triggered",
		50: "ThreadPoolWorkerThread/Start", 54: "ThreadPoolWorkerThreadAdjustment/Sample",
		55: "ThreadPoolWorkerThreadAdjustment/Adjustment", 56: "ThreadPoolWorkerThreadAdjustment/Stats",
		57: "ThreadPoolWorkerThread/Wait", 61: "ThreadPool/Enqueue", 62: "ThreadPool/Dequeue", 81: "Contention/Start",
		85: "AppDomainResourceManagement/ThreadCreated", 91: "Contention/Stop", 143: "Method/LoadVerbose",
		145: "Method/JittingStarted", 151: "Loader/DomainModuleLoad", 152: "Loader/ModuleLoad", 154: "Loader/AssemblyLoad",
		159: "Method/R2RGetEntryPoint", 200: "GC", 201: "GC", 202: "GC/MarkWithType", 204: "GC/PerHeapHistory", 205: "GC/GlobalHeapHistory",
	},
	"Microsoft-Windows-DotNETRuntimeRundown": {
		146: "Method/DCStopComplete", 148: "Method/DCStopInit", 152: "Loader/DomainModuleDCStop", 154: "Loader/ModuleDCStop",
		156: "Loader/AssemblyDCStop", 158: "Loader/AppDomainDCStop", 187: "Runtime/Start",
		300: "ExecutionCheckpointRundown/ExecutionCheckpointDCEnd",
	},
	"Microsoft-Windows-DotNETRuntimePrivate": {199: "GC/PinPlugAtGCTime"},
}

// baselineDrops are events that the reference implementation keeps to itself.
var baselineDrops = map[string]map[uint16]bool{
	"Microsoft-Windows-DotNETRuntime":        {190: true},
	"Microsoft-Windows-DotNETRuntimeRundown": {144: true, 150: true},
}

func traceEventName(rec *etw.Record) string {
	if names := traceEventNames[rec.ProviderName]; names != nil {
		if name := names[rec.ID]; name != "" {
			return rec.ProviderName + "/" + name
		}
	}
	d := rec.Schema
	if d == nil {
		return fmt.Sprintf("%s/%d", rec.ProviderName, rec.ID)
	}
	name := rec.ProviderName + "/" + d.TaskName
	switch {
	case d.OpcodeName != "":
		name += "/" + d.OpcodeName
	case d.Opcode != 0:
		name += fmt.Sprintf("/%d", d.Opcode)
	}
	return name
}

// A baselineLine is the line of the first event of a name.
type baselineLine struct {
	count                    int
	msec, pid, tid, activity string
}

var (
	baselineHead = regexp.MustCompile(`^\x{feff}?(.*?), (\d+), <Event MSec= *"([0-9.,-]+)" PID="(\d+)" PName= ?"[^"]*" TID="(\d+)"(.*)`)
	activityAttr = regexp.MustCompile(` ActivityID="([^"]*)" EventName=`)
)

func readBaseline(t *testing.T, path string) map[string]baselineLine {
	t.Helper()
	f := testio.File(t, path)
	defer f.Close()
	lines := make(map[string]baselineLine)
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		m := baselineHead.FindStringSubmatch(s.Text())
		if m == nil {
			t.Fatalf("%s: cannot read %.80q", path, s.Text())
		}
		l := baselineLine{msec: strings.ReplaceAll(m[3], ",", ""), pid: m[4], tid: m[5]}
		count, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		l.count = count
		if a := activityAttr.FindStringSubmatch(m[6]); a != nil {
			l.activity = a[1]
		}
		lines[m[1]] = l
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestBaselines holds the events of real traces against the output of the reference
// implementation: the number of each, and of the first of each the time, process, thread and
// activity.
func TestBaselines(t *testing.T) {
	for _, baseline := range corpus.Glob(t, "nettrace", "*.baseline.txt") {
		file := strings.TrimSuffix(baseline, ".baseline.txt")
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := readBaseline(t, baseline)
			r := testio.Open(t, nettrace.Open, file)
			defer r.Close()
			got := make(map[string]baselineLine)
			for rec := range testio.Records(t, r.Records()) {
				if baselineDrops[rec.ProviderName][rec.ID] {
					continue
				}
				name := traceEventName(rec)
				l, seen := got[name]
				if !seen {
					l.msec = fmt.Sprintf("%.4f", float64(rec.Timestamp-rec.Clock.Origin)*1000/float64(rec.Clock.Frequency))
					l.pid, l.tid = fmt.Sprint(rec.ProcessID), fmt.Sprint(rec.ThreadID)
					if !rec.ActivityID.IsZero() {
						l.activity = strings.ReplaceAll(rec.ActivityID.String(), "-", "")
					}
				}
				l.count++
				got[name] = l
			}
			events := 0
			for name, w := range want {
				events += w.count
				if g := got[name]; g != w {
					t.Errorf("%s: got %+v, want %+v", name, g, w)
				}
			}
			for name, g := range got {
				if _, ok := want[name]; !ok {
					t.Errorf("%s: %d events that the baseline does not have", name, g.count)
				}
			}
			t.Logf("%d names, %d events", len(want), events)
		})
	}
}

// TestCorpus reads every trace of the corpus to its end, in both orders.
func TestCorpus(t *testing.T) { testWhole(t, corpusFiles(t)) }

// TestRecorded does the same with the project's own traces.
func TestRecorded(t *testing.T) { testWhole(t, recorded(t)) }

func testWhole(t *testing.T, files []string) {
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			inOrder := readAll(t, file, nettrace.WithFileOrder())
			sorted := readAll(t, file)
			if inOrder.Records == 0 || inOrder.Records != sorted.Records {
				t.Errorf("%d events in file order, %d sorted", inOrder.Records, sorted.Records)
			}
			if sorted.OutOfOrder != 0 {
				t.Errorf("%d events out of order although sorted", sorted.OutOfOrder)
			}
			if inOrder.Bytes != fileSize(t, file) {
				t.Errorf("read %d of %d bytes", inOrder.Bytes, fileSize(t, file))
			}
			if inOrder.UnknownMetadata != 0 || inOrder.UnknownStacks != 0 || inOrder.BadMetadata != 0 || inOrder.BadFields != 0 {
				t.Errorf("unresolved references: %+v", inOrder)
			}
			t.Logf("%d events, %d sequence points, %d lost, stopped %t", inOrder.Records, inOrder.SequencePoints, inOrder.Lost, inOrder.Stopped)
		})
	}
}

// TestCorpusAllocations bounds the allocations of reading: they are for metadata and for
// buffers, hardly ever for events. Decoding ahead takes more buffers.
func TestCorpusAllocations(t *testing.T) {
	for _, file := range corpusFiles(t) {
		testAllocations(t, file, 5<<20, nettrace.WithoutReadAhead())
		testAllocations(t, file, 12<<20)
	}
}

func testAllocations(t *testing.T, file string, limit uint64, opts ...nettrace.Option) {
	t.Helper()
	data := testio.Read(t, file)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := testio.Reader(t, nettrace.NewReader, data, append(opts, nettrace.WithFileOrder())...)
	var rec etw.Record
	for err := r.Next(&rec); err == nil; err = r.Next(&rec) {
	}
	runtime.ReadMemStats(&after)
	events, mallocs, size := r.Stats().Records, after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	if size > limit || events > 20_000 && float64(mallocs) > 0.02*float64(events) {
		t.Errorf("%s: %d allocations of %d bytes for %d events", filepath.Base(file), mallocs, size, events)
	}
}

// readAll reads a file to its end and checks that time does not step back in a
// sorted one.
func readAll(t *testing.T, file string, opts ...nettrace.Option) nettrace.Stats {
	t.Helper()
	r := testio.Open(t, nettrace.Open, file, opts...)
	defer r.Close()
	var rec etw.Record
	err := r.Next(&rec)
	for ; err == nil; err = r.Next(&rec) {
		if rec.File != file {
			t.Fatalf("a record of the file %q", rec.File)
		}
		if rec.Provider.IsZero() || rec.ProviderName == "" {
			t.Fatalf("an event without a provider: %+v", rec)
		}
	}
	if err != io.EOF && !errors.Is(err, nettrace.ErrNotStopped) {
		t.Fatal(err)
	}
	return r.Stats()
}

func fileSize(t *testing.T, file string) int64 {
	t.Helper()
	fi, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

// corpusFiles returns the traces of the corpus.
func corpusFiles(t *testing.T) []string {
	return append(corpus.Glob(t, "nettrace", "*.netperf"), corpus.Glob(t, "nettrace", "*.nettrace")...)
}

// recorded returns the project's own traces.
func recorded(t testing.TB) []string {
	t.Helper()
	return testio.Glob(t, "../../tests/recorded/*.net*")
}
