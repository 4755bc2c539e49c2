package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/tests/page"
)

// A truth is a program's own account, beside a trace of it. Counters are read right after
// the marks begin and end, which are events in the trace.
type truth struct {
	PID        int64
	Begin      truthCounters `json:"counters_begin"`
	End        truthCounters `json:"counters_end"`
	Counts     map[string]int
	truthParts `json:"-"`
}

type truthCounters struct {
	Gen0      int     `json:"gc_count_gen0_incl_higher"`
	Gen1      int     `json:"gc_count_gen1_incl_higher"`
	Gen2      int     `json:"gc_count_gen2"`
	PauseMS   float64 `json:"gc_total_pause_ms"`
	Bytes     float64 `json:"total_allocated_bytes"`
	Compiled  int     `json:"jit_methods"`
	ILBytes   float64 `json:"jit_il_bytes"`
	Contended int     `json:"lock_contention_count"`
}

// A truthSheet holds a trace against its program's account.
type truthSheet struct {
	*sheet
	truth
	held map[string]*heldTopic
}

type heldTopic struct {
	figures int
	traces  map[string]bool
}

// truthTopics are the facts that programs know, with how near to it a trace must come.
var truthTopics = map[string]struct {
	bound string
	hold  func(*truthSheet)
}{
	"collections by generation":       {"exact", holdCollections},
	"pauses of collections":           {"no less than between the marks, up to 18 % more than at the end", holdPauses},
	"allocated bytes, by ticks":       {"5 %", holdTicks},
	"allocated bytes, by samples":     {"three times the stated error of each type", holdSamples},
	"methods compiled until the mark": {"their number exact, bytes of IL 8 %", holdCompiled},
	"exceptions by type, and order":   {"exact", holdExceptions},
	"waits for known locks":           {"1 ms; their number exact", holdContention},
	"waits for handles":               {"1.5 ms", holdWaits},
	"load contexts, missing files":    {"exact", holdLoader},
	"reused addresses":                {"names exact, time 20 %", holdReused},
	"objects in snapshots":            {"exact", holdHeap},
	"what objects keep alive":         {"exact", holdRetained},
	"requests by status":              {"exact", holdRequests},
	"counters and metrics":            {"the last, unfinished interval", holdCounters},
	"shares of processor time":        {"3 points", holdShares},
	"time of blocked threads":         {"10 %", holdBlocked},
	"events that were lost":           {"delivered and lost are not more than written", holdLost},
	"values of events":                {"exact", holdEvents},
	"handles and finalizers":          {"exact, or what the runtime adds", holdHandles},
	"the collector's own memory":      {"exact", holdMemory},
	"settings of the collector":       {"exact", holdSettings},
	"collections that were asked for": {"exact", holdInduced},
	"the tiers of known methods":      {"exact", holdTiers},
	"tasks, and their steps":          {"exact", holdTasks},
	"work of the thread pool":         {"exact, or what the runtime adds", holdPool},
	"commands of a database":          {"exact", holdDatabase},
	"requests by path, in events":     {"exact", holdPaths},
	"requests in logs":                {"exact", holdLogs},
	"requests over a bridge":          {"exact", holdBridge},
	"look-ups of compiled code":       {"no more in vain than are compiled, and three of four", holdPrecompiled},
	"processes of a machine":          {"exact; of children no more", holdProcesses},
	"time in unloaded plugins":        {"20 %", holdPlugins},
	"shares of two threads":           {"8 points", holdPhase2},
	"shares by samples of Linux":      {"3 points of time on and off processors; without context switches 12 of processor time, for the clock goes on while others run", holdLinux},
}

// TestTruth holds all traces against their programs' accounts.
func TestTruth(t *testing.T) {
	held := map[string]*heldTopic{}
	programs, used := []string(nil), map[string]bool{}
	for _, path := range corpus.Glob(t, "dotnet10/*.net*") {
		name := strings.TrimSuffix(filepath.Base(path), ".gz")
		s := &truthSheet{held: held}
		if !s.readTruth(t, filepath.Join(filepath.Dir(path), strings.TrimSuffix(name, filepath.Ext(name))+".truth.json")) {
			continue
		}
		programs = append(programs, name)
		s.sheet = &sheet{t: t, file: name, theirs: new(answer), total: newTotals(), keepCustom: true}
		s.readTrace(path)
		for _, topic := range slices.Sorted(maps.Keys(truthTopics)) {
			s.topic = topic
			truthTopics[topic].hold(s)
		}
	}
	rows := new(strings.Builder)
	for _, topic := range slices.Sorted(maps.Keys(truthTopics)) {
		h := held[topic]
		if h == nil {
			t.Errorf("no program knows of %s", topic)
			continue
		}
		fmt.Fprintf(rows, "| %s | %d | %d | %s |\n", topic, len(h.traces), h.figures, truthTopics[topic].bound)
		t.Logf("%-32s %5d figures of %2d traces", topic, h.figures, len(h.traces))
		for file := range h.traces {
			used[file] = true
		}
	}
	for _, file := range programs {
		if !used[file] {
			t.Errorf("%s is held to nothing that its program knows", file)
		}
	}
	if *update && !t.Failed() {
		rows.WriteString(fmt.Sprintf("\nThese are %d of the %d recordings whose programs know anything.\n", len(used), len(programs)))
		page.Replace(t, filepath.Join("..", ".."), "accuracy-programs.md", "truth", "| truth | traces | figures that hold | to |\n|---|--:|--:|---|\n"+rows.String())
	}
}

// readTruth reads the program's account, and reports false if it has none.
func (s *truthSheet) readTruth(t *testing.T, path string) bool {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		// Two snapshots of one program share a file.
		path = strings.NewReplacer("heap-1.", "heap.", "heap-2.", "heap.").Replace(path)
		if b, err = os.ReadFile(path); err != nil {
			return false
		}
	} else if err != nil {
		t.Fatal(err)
	}
	checkTruthKeys(t, path, b)
	for _, v := range []any{&s.truth, &s.truthParts, &s.truthMore} {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return s.PID != 0 || s.Native != nil
}

// holds counts a figure, and reports it if it differs from the program's.
func (s *truthSheet) holds(ok bool, field string, ours, want any) {
	s.t.Helper()
	h := s.held[s.topic]
	if h == nil {
		h = &heldTopic{traces: map[string]bool{}}
		s.held[s.topic] = h
	}
	h.figures++
	h.traces[s.file] = true
	if !ok {
		s.t.Errorf("%s: %s: %s is %v, and the program says %v", s.file, s.topic, field, ours, want)
	}
}

func (s *truthSheet) is(field string, ours, want any) {
	s.t.Helper()
	s.holds(ours == want, field, ours, want)
}

// within compares numbers that may differ by a share of the program's.
func (s *truthSheet) within(field string, ours, want, share float64) {
	s.t.Helper()
	s.holds(math.Abs(ours-want) <= share*want, field, ours, want)
}
