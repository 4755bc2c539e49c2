package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/tests/page"
)

// A headline is a figure that a person sees first in the text of a command, and how far it
// may be from the truth, in percent. The printed text is compared as it stands.
type headline struct {
	command string
	figure  string
	pattern string // of the text; KEY is the name of a truth, and the group is the figure
	truth   func(*witness) map[string]float64
	against string
	within  float64
	traces  string
}

// Words for whom the truth is of.
const (
	byProgram = "the program"
	byEvents  = "its events, one by one"
)

// milliseconds is how times in milliseconds, or seconds, are printed.
const milliseconds = `([\d.]+ m?s)\b`

var collected = "gc-*.nettrace alloc-ticks.nettrace netperf-gc.netperf profile-gc-*.nettrace"

var headlines = []headline{
	{"gc", "collections", `collections +(\d+)`, end("gc_count_gen0_incl_higher", 1), byProgram + "; regions without collections use up numbers", 5.5, collected},
	{"gc", "those of generation 2", `(\d+) of generation 2`, end("gc_count_gen2", 1), byProgram + "; as above", 45, collected},
	{"gc", "pauses", `pauses +` + milliseconds, end("gc_total_pause_ms", 1), byProgram + ", which leaves out how long resuming takes", 18, collected},
	{"gc", "heap after the last one", `([\d.]+ [kM]B) after the last one`, heapAfter, byProgram, 1, collected},
	{"gc", "allocated", `allocated +(?:about )?([\d.]+) MB`, end("total_allocated_bytes", 1e-6), byProgram, 3, collected},
	{"gc", "induced", `(\d+) induced`, asked, byProgram, 0, "gc-*.nettrace netperf-gc.netperf"},
	{"allocs", "by ticks", `by ticks +([\d.]+) MB`, end("total_allocated_bytes", 1e-6), byProgram, 2, "alloc-ticks.nettrace profile-gc-verbose.nettrace"},
	{"allocs", "by samples", `by samples +([\d.]+) MB`, end("total_allocated_bytes", 1e-6), byProgram + "; of samples the error is printed", 10, "alloc-sampled.nettrace"},
	{"heap --top 1000", "objects of a type", `(?m)^ *(\d+) .*? KEY$`, objects, byProgram, 0, "heap-?.nettrace"},
	{"heap", "bytes", `objects +\d+, (\d+) bytes`, heapBytes, byProgram + ", of what is no free space", 1, "heap-?.nettrace"},
	{"exceptions", "thrown", `thrown +(\d+)`, thrown, byProgram, 0, "exceptions.nettrace"},
	{"exceptions", "thrown of a type", `(?m)^ *(\d+) .*? KEY$`, thrownOf, byProgram, 0, "exceptions.nettrace"},
	{"exceptions", "finally blocks", `(\d+) finally`, count("finally_run"), byProgram, 0, "exceptions.nettrace"},
	{"exceptions", "filter blocks", `(\d+) filter`, count("filters_run"), byProgram, 0, "exceptions.nettrace"},
	{"jit --to END", "methods", `compiled +(\d+) methods`, end("jit_methods", 1), byProgram, 0, "jit-tiering.nettrace"},
	{"jit --to END", "time", `compiled +\d+ methods, ` + milliseconds, end("jit_ms", 1), byProgram, 8, "jit-tiering.nettrace"},
	{"waits --locks", "waits", `waits +(\d+)`, end("lock_contention_count", 1), byProgram, 0, "contention.nettrace"},
	{"waits --locks", "the longest", `longest ` + milliseconds, longestHeld, byProgram, 1, "contention.nettrace"},
	{"waits", "the longest", `longest ` + milliseconds, longestWait, byProgram, 2, "waits.nettrace"},
	{"threadpool", "least workers", `limits +(\d+) to`, number("min_threads"), byProgram, 0, "threadpool.nettrace"},
	{"threadpool", "adjustments for starvation", `starvation +(\d+)`, eventsOf("ThreadPoolWorkerThreadAdjustmentAdjustment", "Reason", "Starvation"), byEvents, 0, "threadpool.nettrace"},
	{"threadpool", "adjustments for blocked workers", `(\d+) adjustments because of blocked`, blockedWorkers, byEvents + ", of those that add workers", 0, "threadpool.nettrace"},
	{"threadpool", "most workers", `workers +(\d+) at most`, mostWorkers, byEvents, 0, "threadpool.nettrace"},
	{"requests", "that a server had", `(?m)^ *(\d+) .* (?:Request +Microsoft\.AspNetCore\.Hosting|Microsoft\.AspNetCore\.Hosting\.HttpRequestIn)\b`, served, byProgram, 0, "aspnet.nettrace aspnet-activities.nettrace"},
	{"requests", "that a client made", `(?m)^ *(\d+) .* (?:Request +System\.Net\.Http|System\.Net\.Http\.HttpRequestOut)\b`, made, byProgram, 0, "aspnet.nettrace aspnet-activities.nettrace"},
	{"requests", "of these, failed", `(?m)^ *\d+ +(\d+) .* (?:Request +System\.Net\.Http|System\.Net\.Http\.HttpRequestOut)\b`, failed, byProgram, 0, "aspnet.nettrace aspnet-activities.nettrace"},
	{"requests --by status", "answers of a status", `(?m)^ *(\d+) +KEY +Request +System\.Net\.Http`, answers, byProgram, 0, "aspnet.nettrace"},
	{"counters", "mean of a counter", `(?m)^ *\d+ +([\d.]+) .* dough-weight`, dough, byProgram + "; the last interval is not in the trace", 1, "counters.nettrace"},
	{"startup", "look-ups in vain", `(\d+) without success`, count("assembly_not_found"), byProgram, 0, "loader.nettrace"},
	{"top --top 1000", "time of a method and its callees", `(?m)^ *[\d.]+ +[\d.]+ +([\d.]+) +.* KEY$`, phase1, byProgram + "; samples are 1 ms and more apart", 17, "cpu.nettrace cpu-default-profile.nettrace netperf-cpu.netperf"},
	{"top", "samples", `(\d+) samples`, eventsOf("ThreadSample", "", ""), byEvents, 0, "cpu*.nettrace"},
	{"symbols", "samples", `(\d+) samples`, eventsOf("ThreadSample", "", ""), byEvents, 0, "cpu*.nettrace"},
	{"top --by line --top 1000 --symbols DIR", "samples of a line", `(?m) (\d+)  KEY `, onLines, "another reader of the same debug information", 0, "../lines/*/lines.nettrace"},
	{"tree --min 0", "time of a method and its callees", `(?m)^ *([\d.]+) .* KEY$`, phase1, byProgram + "; samples are 1 ms and more apart", 17, "cpu.nettrace cpu-default-profile.nettrace netperf-cpu.netperf"},
	{"top", "time of a thread that ran", `(?m)^ *([\d.]+) .* Bakery\.Cpu\.Work$`, busyThread, byProgram, 5, "cpu-blocked.nettrace"},
	{"tree --min 0", "time of a thread that waited", `(?m)^ *([\d.]+) .* KEY$`, blockedMS, byProgram, 2, "cpu-blocked.nettrace"},
	{"tree --min 0", "of these, below them in [waiting]", `(?m) KEY$(?:\n.*){1,9}?\n *([\d.]+) .*\[waiting\]$`, blockedMS, byProgram, 2, "cpu-blocked.nettrace"},
	{"threads", "switches", `(\d+) context switches`, switches, byEvents + ", of threads that are known", 0, "v6-cpu-switches.nettrace v6-faults.nettrace"},
	{"threads", "waiting", `waiting +` + milliseconds, summed("cswitch", "Value", 1e-6), byEvents, 0.01, "v6-cpu-switches.nettrace v6-faults.nettrace"},
	{"top --of blocked", "blocked", `blocked: \d+ times, ` + milliseconds, summed("cswitch", "Value", 1e-6), byEvents, 0.01, "v6-cpu-switches.nettrace v6-faults.nettrace"},
	{"processes", "samples", `samples +(\d+)`, eventsOf("cpu", "", ""), byEvents, 0, "v6-cpu-*.nettrace"},
	{"processes", "samples", `samples +(\d+)`, eventsOf("PerfInfo/Sample", "", ""), byEvents, 0, "../etl/net.4.5.2.x64.etl"},
	{"network", "packets sent", `sent .* in (\d+) packets`, eventsOf("*Ip/Send*", "", ""), byEvents, 0, "../etl/net.4.5.2.x64.etl"},
	{"network", "packets received", `received .* in (\d+) packets`, eventsOf("*Ip/Recv*", "", ""), byEvents, 0, "../etl/net.4.5.2.x64.etl"},
	{"files", "opened", `opened +(\d+)`, eventsOf("Create_V1", "", ""), byEvents, 0, "../etl/net.4.5.2.x64.etl"},
	{"stat", "events", `: .*, (\d+) events`, eventsOf("*", "", ""), byEvents, 0, "gc-many.nettrace cpu.nettrace v6-cpu-*.nettrace"},
	{"report --format text", "induced", `(\d+) collections? w\w+ induced`, asked, byProgram, 0, "gc-*.nettrace netperf-gc.netperf"},
	{"report --format text", "starvation", `starved: (\d+) adj`, eventsOf("ThreadPoolWorkerThreadAdjustmentAdjustment", "Reason", "Starvation"), byEvents, 0, "threadpool.nettrace"},
	{"report --format text", "blocked workers", `(\d+) adjustments because of blocked`, blockedWorkers, byEvents + ", as for threadpool", 0, "threadpool.nettrace"},
	{"report --format text", "most workers", `while the pool went from \d+ to (\d+) workers`, mostWorkers, byEvents, 0, "threadpool.nettrace"},
	{"report --format text", "pauses", `of the time: ([\d.]+ m?s)\b`, end("gc_total_pause_ms", 1), byProgram + ", as for gc", 18, "gc-workstation.nettrace gc-many.nettrace gc-server*.nettrace"},
	{"report --format text", "thrown", `(\d+) exceptions were thrown`, thrown, byProgram, 0, "exceptions.nettrace"},
	{"report --format text", "failed requests of a client", `(\d+) of System\.Net\.Http/Request`, failed, byProgram, 0, "aspnet.nettrace"},
	{"compare --all DIR/gc-workstation.nettrace", "allocated, of the second", `(?m)^ *[\d.]+ +([\d.]+) .* gc\.allocatedMB$`, end("total_allocated_bytes", 1e-6), byProgram, 3, "gc-[hlms]*.nettrace"},
	{"compare --all DIR/gc-workstation.nettrace", "pauses, of the second", `(?m)^ *[\d.]+ +([\d.]+) .* gc\.pauseMs$`, end("gc_total_pause_ms", 1), byProgram + ", as for gc", 18, "gc-[hlms]*.nettrace"},
	{"info", "events", `(?m)^  events +(\d+)`, eventsOf("*", "", ""), byEvents, 0, "gc-many.nettrace cpu.nettrace exceptions.nettrace threadpool.nettrace aspnet.nettrace v6-cpu-*.nettrace"},
	{"info", "process", `(?m)^  pid +(\d+)`, number("pid"), byProgram, 0, "gc-*.nettrace cpu*.nettrace exceptions.nettrace threadpool.nettrace aspnet.nettrace"},
	{"info", "processors", `(?m)^  processors +(\d+)`, number("processors"), byProgram, 0, "gc-*.nettrace cpu*.nettrace exceptions.nettrace threadpool.nettrace aspnet.nettrace"},
	{"info", "lost, at least", `lost +at least (\d+)`, floodLost, byProgram + "; the runtime forgets the losses of threads that ended", 60, "dropped.nettrace"},
	{"report", "allocated, on the page", `"label":"Allocated","value":"([\d.]+ [MG]B)"`, end("total_allocated_bytes", 1e-6), byProgram, 3, "gc-workstation.nettrace alloc-ticks.nettrace"},
	{"report", "pauses, on the page", `"note":"([\d.]+ m?s) in \d+ collections"`, end("gc_total_pause_ms", 1), byProgram + ", as for gc", 18, "gc-*.nettrace"},
	{"report", "collections, on the page", `"note":"[\d.]+ m?s in (\d+) collections"`, end("gc_count_gen0_incl_higher", 1), byProgram + "; regions without collections use up numbers", 5.5, "gc-*.nettrace"},
	{"report", "exceptions, on the page", `"label":"Exceptions","value":"(\d+)"`, thrown, byProgram, 0, "exceptions.nettrace"},
	{"report", "waits for locks, on the page", `"note":"(\d+) waits, longest`, end("lock_contention_count", 1), byProgram, 0, "contention.nettrace"},
	{"report", "requests, on the page", `"label":"Requests","value":"(\d+)"`, served, byProgram, 0, "aspnet.nettrace"},
	{"report", "most workers, on the page", `"label":"Workers of the thread pool","value":"(\d+)"`, mostWorkers, byEvents, 0, "threadpool.nettrace"},
	{"mcp gc", "pauses", `"pauseMs":([\d.]+),"restartMs"`, end("gc_total_pause_ms", 1), byProgram + ", as for gc", 18, "gc-server*.nettrace gc-many.nettrace"},
	{"mcp gc", "collections", `"count":(\d+),"pauseMs"`, end("gc_count_gen0_incl_higher", 1), byProgram, 5.5, "gc-server*.nettrace gc-many.nettrace"},
	{"mcp exceptions", "thrown", `"runtimes":\[\{.*?"new":(\d+)`, thrown, byProgram, 0, "exceptions.nettrace"},
	{"mcp waits", "waits", `"count":(\d+)`, eventsOf("WaitHandleWaitStop", "", ""), byEvents, 0, "waits.nettrace"},
	{"mcp open_trace", "events", `"events":(\d+)`, eventsOf("*", "", ""), byEvents, 0, "exceptions.nettrace"},
	{"export --format prometheus -o -", "a sum", `loaves_sold_total\S* (\d+)`, number("loaves-sold_total"), byProgram + "; the last interval is not in the trace", 10, "counters.nettrace"},
	{"export --format prometheus -o -", "another sum", `clock_ticks_total\S* (\d+)`, number("clock-ticks_total"), byProgram + "; the last interval is not in the trace", 10, "counters.nettrace"},
	{"startup", "assemblies looked up", `look-ups +(\d+) of assemblies`, eventsOf("AssemblyLoadStart", "", ""), byEvents, 0, "loader.nettrace"},
	{"startup --to END", "methods compiled", `compiled +(\d+) methods`, end("jit_methods", 1), byProgram, 0, "jit-tiering.nettrace"},
	{"startup --to END", "time of compiling", `compiled +\d+ methods, ` + milliseconds, end("jit_ms", 1), byProgram, 8, "jit-tiering.nettrace"},
	{"filter -e GCStart -o TEMP", "events", `: (\d+) events`, eventsOf("GCStart*", "", ""), byEvents, 0, "gc-*.nettrace"},
	{"files --disks", "requests to read", `read .* in (\d+) requests`, eventsOf("DiskIo/Read", "", ""), byEvents, 0, "../etl/net.4.5.2.x64.etl"},
	{"files --disks", "requests to write", `written .* in (\d+) requests`, eventsOf("DiskIo/Write", "", ""), byEvents, 0, "../etl/net.4.5.2.x64.etl"},
	{"threads", "switches", `(\d+) context switches`, eventsOf("Thread/CSwitch", "", ""), byEvents, 0, "../etl/filtrace_etw.etl"},
	{"top --of allocs", "bytes", `samples, ([\d.]+ [kM]B)`, end("total_allocated_bytes", 1e-6), byProgram, 2, "alloc-ticks.nettrace profile-gc-verbose.nettrace"},
	{"top --of contention", "waits", `contention: (\d+)`, end("lock_contention_count", 1), byProgram, 0, "contention.nettrace"},
	{"top --of exceptions", "throws", `exceptions: (\d+)`, eventsOf("ExceptionThrown_V1", "", ""), byEvents + ", those passed on among them", 0, "exceptions.nettrace"},
	{"timeline", "throws", `(?m)^exceptions +(\d+)`, eventsOf("ExceptionThrown_V1", "", ""), byEvents + ", those passed on among them", 0, "exceptions.nettrace"},
	{"timeline", "pauses", `GC pauses +` + milliseconds, end("gc_total_pause_ms", 1), byProgram + ", as for gc", 18, collected},
}

// A witness is the account of a trace's program, or of its events.
type witness struct {
	tb    testing.TB
	path  string
	facts map[string]any
}

// at returns a number from the program's account, by its path.
func (w *witness) at(keys ...string) (float64, bool) {
	var v any = w.facts
	for _, key := range keys {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	n, ok := v.(float64)
	return n, ok
}

// one is the only truth of a trace, if it is known.
func one(v float64, ok bool) map[string]float64 {
	if !ok {
		return nil
	}
	return map[string]float64{"": v}
}

func number(keys ...string) func(*witness) map[string]float64 {
	return func(w *witness) map[string]float64 { return one(w.at(keys...)) }
}

func count(key string) func(*witness) map[string]float64 { return number("counts", key) }

// end is a counter of the runtime as the program read it last.
func end(key string, unit float64) func(*witness) map[string]float64 {
	return func(w *witness) map[string]float64 {
		v, ok := w.at("counters_end", key)
		return one(v*unit, ok)
	}
}

// asked is how many collections a program asked for and must get.
func asked(w *witness) map[string]float64 {
	sum := 0.0
	counts, _ := w.facts["counts"].(map[string]any)
	for name, n := range counts {
		if strings.HasPrefix(name, "gc_collect_") && !strings.HasSuffix(name, "_optimized") {
			sum += n.(float64)
		}
	}
	return one(sum, sum > 0)
}

// texts are the numbers of a map that are of one name each.
func texts(v any) map[string]float64 {
	out := map[string]float64{}
	m, _ := v.(map[string]any)
	for name, n := range m {
		if n, ok := n.(float64); ok && !strings.Contains(name, " of ") {
			out[name] = n
		}
	}
	return out
}

// snapshot is the number of a snapshot, which its file's name ends with.
func (w *witness) snapshot() string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(w.path), "heap-"), ".nettrace")
}

func objects(w *witness) map[string]float64 {
	out := map[string]float64{}
	for name, n := range texts(w.facts["objects_at_snapshot_"+w.snapshot()]) {
		if strings.HasPrefix(name, "Bakery.") {
			out[name] = n
		}
	}
	return out
}

// heapBytes is the size of a heap without its free space.
func heapBytes(w *witness) map[string]float64 {
	memory := "gc_memory_info_" + w.snapshot()
	size, ok := w.at(memory, "Any", "heap_size")
	free, _ := w.at(memory, "Any", "fragmented")
	return one(size-free, ok)
}

// heapAfter is the size of the heap after the last collection, in MB.
func heapAfter(w *witness) map[string]float64 {
	v, ok := w.at("gc_memory_info", "Any", "heap_size")
	return one(v/1e6, ok)
}

func thrown(w *witness) map[string]float64 {
	list, ok := w.facts["thrown_in_order"].([]any)
	return one(float64(len(list)), ok)
}

func thrownOf(w *witness) map[string]float64 { return texts(w.facts["thrown_by_type"]) }

func phase1(w *witness) map[string]float64 { return texts(w.facts["main_thread_phase_1_ms_by_method"]) }

func busyThread(w *witness) map[string]float64 { return one(w.at("thread_ms", "busy")) }

// served are the requests that a server had, and made those of its clients: one was not
// answered, and two did not come so far.
func served(w *witness) map[string]float64 {
	answered, ok := w.at("counts", "requests")
	cancelled, _ := w.at("counts", "cancelled_by_client")
	return one(answered+cancelled, ok)
}

func made(w *witness) map[string]float64 {
	came := served(w)
	refused, _ := w.at("requests_refused")
	insecure, ok := w.at("counts", "tls_failed")
	return one(came[""]+refused+insecure, ok)
}

// failed are those of a client that had no answer, or one with a status of failure.
func failed(w *witness) map[string]float64 {
	bad := made(w)[""] - mustAt(w, "counts", "requests")
	for status, n := range texts(w.facts["responses_by_status"]) {
		if status >= "400" {
			bad += n
		}
	}
	return one(bad, true)
}

// answers are those that a client had, by status.
func answers(w *witness) map[string]float64 { return texts(w.facts["responses_by_status"]) }

func mustAt(w *witness, keys ...string) float64 {
	v, ok := w.at(keys...)
	if !ok {
		w.tb.Errorf("%s: the program says nothing of %v", w.path, keys)
	}
	return v
}

func dough(w *witness) map[string]float64 {
	return one(mustAt(w, "dough-weight", "sum")/mustAt(w, "dough-weight", "count"), true)
}

// blockedMS is how long threads waited in methods of the program.
func blockedMS(w *witness) map[string]float64 {
	all := texts(w.facts["thread_ms"])
	delete(all, "busy")
	return all
}

// longest is the largest value of a field of a list.
func longest(v any, field string) map[string]float64 {
	list, _ := v.([]any)
	most := 0.0
	for _, item := range list {
		n, _ := item.(map[string]any)[field].(float64)
		most = max(most, n)
	}
	return one(most, most > 0)
}

func longestHeld(w *witness) map[string]float64 {
	return longest(w.facts["known_contentions"], "waited_ms_measured_by_waiter")
}

func longestWait(w *witness) map[string]float64 { return longest(w.facts["waits"], "ms") }

// floodLost is how many events a program wrote that are not in the trace.
func floodLost(w *witness) map[string]float64 {
	written, ok := w.at("flood_events_written_by_program")
	return one(written-float64(len(w.dump("Drop"))), ok)
}

// dump returns the events of a name, with their columns by name.
func (w *witness) dump(event string) []map[string]string {
	w.tb.Helper()
	out, stderr, code := output("dump", "--event", event, "--format", "csv", w.path)
	if code > 1 {
		w.tb.Fatalf("dump of %s: exit code %d: %s", w.path, code, stderr)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) == 0 {
		w.tb.Fatalf("dump of %s: %v", w.path, err)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		list = append(list, m)
	}
	return list
}

// eventsOf counts those of a name, where a field is not empty those with a value.
func eventsOf(event, field, value string) func(*witness) map[string]float64 {
	return func(w *witness) map[string]float64 {
		n := 0.0
		for _, row := range w.dump(event) {
			if field == "" || row[field] == value {
				n++
			}
		}
		return one(n, n > 0)
	}
}

// switches counts those of threads that the recorder knew.
func switches(w *witness) map[string]float64 {
	n := 0.0
	for _, row := range w.dump("cswitch") {
		if row["tid"] != "-1" {
			n++
		}
	}
	return one(n, n > 0)
}

func summed(event, field string, unit float64) func(*witness) map[string]float64 {
	return func(w *witness) map[string]float64 {
		total := 0.0
		for _, row := range w.dump(event) {
			total += w.value(row[field]) * unit
		}
		return one(total, total > 0)
	}
}

// mark returns the milliseconds of the last mark of a program.
func (w *witness) mark() string {
	marks := w.dump("Mark")
	return marks[len(marks)-1]["ms"]
}

// printed finds a figure in a text; times are in milliseconds.
func printed(text, pattern, key string) (float64, error) {
	re := regexp.MustCompile(strings.Replace(pattern, "KEY", regexp.QuoteMeta(key), 1))
	found := re.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("nothing is like %s", re)
	}
	digits, unit, _ := strings.Cut(found[1], " ")
	v, err := strconv.ParseFloat(digits, 64)
	switch unit {
	case "s": // all others are in ms
		v *= 1000
	case "kB": // in MB
		v /= 1000
	case "GB":
		v *= 1000
	}
	return v, err
}

// witnessOf reads the account of the program of a trace, which two snapshots share.
func witnessOf(t *testing.T, path string) *witness {
	name := strings.TrimSuffix(path, filepath.Ext(path))
	if strings.HasPrefix(filepath.Base(name), "heap-") {
		name = filepath.Join(filepath.Dir(path), "heap")
	}
	b, err := os.ReadFile(name + ".truth.json")
	if errors.Is(err, os.ErrNotExist) {
		return &witness{tb: t, path: path} // its events know
	}
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{tb: t, path: path}
	testio.JSON(t, b, &w.facts)
	return w
}

// hold compares a headline with the truth of a trace, and returns how many figures that
// are, and the largest error in percent.
func (h *headline) hold(t *testing.T, w *witness) (figures int, worst float64) {
	truths := h.truth(w)
	if len(truths) == 0 {
		return 0, 0
	}
	command := strings.Replace(h.command, "DIR", filepath.Dir(w.path), 1)
	if from, to, ok := strings.Cut(command, "END"); ok {
		command = from + w.mark() + "ms" + to
	}
	text := w.ask(t, strings.Replace(command, "TEMP", filepath.Join(t.TempDir(), "out.nettrace"), 1))
	for key, want := range truths {
		ours, err := printed(text, h.pattern, key)
		if err != nil {
			t.Errorf("%s %s: %v", command, filepath.Base(w.path), err)
			continue
		}
		percent := 100 * math.Abs(ours-want) / max(want, 1e-9)
		if percent > h.within {
			t.Errorf("%s %s: %s %s is %v, the truth %v: %.2f %%", command, filepath.Base(w.path), h.figure, key, ours, want, percent)
		}
		figures++
		worst = max(worst, percent)
	}
	return figures, worst
}

// TestHeadlines holds the figures that a person sees first against the truth, as it is printed.
func TestHeadlines(t *testing.T) {
	var rows strings.Builder
	for i := range headlines {
		h := &headlines[i]
		traces, figures, worst := 0, 0, 0.0
		for _, glob := range strings.Fields(h.traces) {
			for _, path := range corpus.Glob(t, "dotnet10/"+glob) {
				n, percent := h.hold(t, witnessOf(t, path))
				if n > 0 {
					traces++
				}
				figures += n
				worst = max(worst, percent)
			}
		}
		if figures == 0 {
			t.Errorf("%s: %s is held against nothing", h.command, h.figure)
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %s | %d | %d | %s |\n", h.command, h.figure, h.against, traces, figures, errorText(worst))
	}
	table := "| command | figure | held against | traces | figures | largest error |\n|---|---|---|--:|--:|--:|\n" + rows.String()
	write := page.Check
	if *update && !t.Failed() {
		write = page.Replace
	}
	write(t, filepath.Join("..", ".."), "accuracy.md", "headlines", table)
}

// TestHeadlinesOfAll has each command in the table of first figures, or named below it.
func TestHeadlinesOfAll(t *testing.T) {
	b := testio.Read(t, filepath.Join("..", "..", "docs", "accuracy.md"))
	_, part, _ := strings.Cut(string(b), "<!-- begin headlines -->")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, cmd := range newRoot().Commands() {
		if !cmd.IsAvailableCommand() || cmd.Name() == "completion" {
			continue
		}
		if !regexp.MustCompile("`" + cmd.Name() + "[ `]").MatchString(part) {
			t.Errorf("docs/accuracy.md does not say what %s prints first is held against", cmd.Name())
		}
	}
}

func errorText(percent float64) string {
	if percent == 0 {
		return "0"
	}
	return strconv.FormatFloat(percent, 'f', 3, 64) + " %"
}
