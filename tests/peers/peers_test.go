// Package peers holds the analyses against others' results for the same traces: the answers
// of TraceEvent, Microsoft's own library, which were computed by it and by nothing of ours.
//
// A figure is equal to the precision in which it is given, or there is a reason for the
// difference in the table of reasons, which is a rule for all traces and never for one by
// its name. docs/accuracy-traceevent.md has the outcome.
package peers

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/tests/page"
	"github.com/etwgen/etwgen/trace"
)

// An answer is TraceEvent's answer for a trace.
type answer struct {
	Info       peerInfo
	Counts     []peerCount
	GC         []peerRuntime
	Exceptions peerExceptions
	Contention peerContention
	Waits      peerWaits
	Allocs     peerAllocs
	ThreadPool peerThreadPool
	Loader     peerLoader
	JIT        []peerJIT
	Heap       peerHeap
	Requests   peerRequests
	Counters   []peerCounter
	Stacks     peerStacks
}

// A sheet compares the two for one trace.
type sheet struct {
	t          *testing.T
	file, path string
	topic      string
	ours       *analysis.Result
	cpu        *cpu.Result
	stacks     *stacks.Profile // of the samples in cpu
	counts     map[kind]int64  // of events
	info       ownInfo
	marks      map[string]float64 // ms of those that programs make
	custom     []customEvent      // of programs that know them, if they are kept
	told       map[string]int     // values of events of libraries, of the same programs
	keepCustom bool
	theirs     *answer
	total      *totals
}

// totals are the comparisons in all traces.
type totals struct {
	compared  map[string]int            // fields, by topic
	traces    map[string]map[string]int // fields, by topic and file
	reasons   map[string]int            // figures that differ, by reason
	explained map[string]int            // and by topic
}

func newTotals() *totals {
	return &totals{compared: map[string]int{}, traces: map[string]map[string]int{}, reasons: map[string]int{}, explained: map[string]int{}}
}

func (s *sheet) count() {
	s.total.compared[s.topic]++
	if s.total.traces[s.topic] == nil {
		s.total.traces[s.topic] = map[string]int{}
	}
	s.total.traces[s.topic][s.file]++
}

// equal compares values that have no rounding.
func (s *sheet) equal(field string, ours, theirs any) {
	s.t.Helper()
	s.count()
	if ours != theirs {
		s.t.Errorf("%s: %s: %s is %v, and TraceEvent says %v", s.file, s.topic, field, ours, theirs)
	}
}

// near compares numbers that were computed in floating point.
func (s *sheet) near(field string, ours, theirs float64) {
	s.t.Helper()
	s.count()
	if !nearly(ours, theirs) {
		s.t.Errorf("%s: %s: %s is %v, and TraceEvent says %v", s.file, s.topic, field, ours, theirs)
	}
}

// nearly reports whether two numbers are the same but for how they were computed.
func nearly(x, y float64) bool { return math.Abs(x-y) <= 1e-6+1e-9*math.Abs(y) }

// differs counts a field that is not equal for a reason of the table.
func (s *sheet) differs(reason string) {
	s.count()
	if reasons[reason] == "" {
		s.t.Errorf("%s: %s: there is no reason %q", s.file, s.topic, reason)
	}
	s.total.reasons[reason]++
	s.total.explained[s.topic]++
}

// comparisons are the topics, each of which compares all that both know of it.
var comparisons = map[string]func(*sheet){
	"events":      compareEvents,
	"collections": compareCollections,
	"exceptions":  compareExceptions,
	"contention":  compareContention,
	"waits":       compareWaits,
	"allocations": compareAllocs,
	"thread pool": compareThreadPool,
	"loader":      compareLoader,
	"jit":         compareJIT,
	"heap":        compareHeap,
	"counters":    compareCounters,
	"requests":    compareRequests,
	"stacks":      compareStacks,
}

// elsewhere are the reasons that traces of one's own had, and no trace of the corpus has.
var elsewhere = []string{whyAwaited, whyUnset, whyOpen, whyMoved}

var update = flag.Bool("update", false, "write what was compared to the pages on accuracy")

func TestTraceEventAgrees(t *testing.T) {
	sum := compareAll(t)
	if *update && !t.Failed() {
		sum.write(t)
	}
	for _, topic := range slices.Sorted(maps.Keys(comparisons)) {
		if sum.compared[topic] == 0 {
			t.Errorf("%s: nothing was compared", topic)
		}
		t.Logf("%-12s %7d fields of %2d traces", topic, sum.compared[topic], len(sum.traces[topic]))
	}
	for why, text := range reasons {
		if sum.reasons[why] == 0 && !slices.Contains(elsewhere, why) {
			t.Errorf("the reason %q explains nothing: %s", why, text)
		}
		t.Logf("%7d differ: %s", sum.reasons[why], text)
	}
}

// write writes the tables of the page.
func (sum *totals) write(t *testing.T) {
	var topics, whys strings.Builder
	for _, topic := range slices.Sorted(maps.Keys(comparisons)) {
		all, explained := sum.compared[topic], sum.explained[topic]
		fmt.Fprintf(&topics, "| %s | %d | %d | %d | %d |\n", topic, len(sum.traces[topic]), all, all-explained, explained)
	}
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&whys, "| %d | %s |\n", sum.reasons[why], reasons[why])
	}
	page.Replace(t, filepath.Join("..", ".."), "accuracy-traceevent.md", "topics", page.Topics+topics.String())
	page.Replace(t, filepath.Join("..", ".."), "accuracy-traceevent.md", "reasons", page.Reasons+whys.String())
}

// compareAll compares everything for all traces that TraceEvent has answers for.
func compareAll(t *testing.T) *totals {
	sum := newTotals()
	for _, path := range slices.Concat(corpus.Glob(t, "nettrace/*.net*"), corpus.Glob(t, "dotnet10/*.net*"), corpus.Glob(t, "universal/*.net*")) {
		s := &sheet{t: t, file: strings.TrimSuffix(filepath.Base(path), ".gz"), theirs: new(answer), total: sum}
		if strings.HasSuffix(path, ".txt") || !s.readAnswer() {
			continue
		}
		s.readTrace(path)
		for _, topic := range slices.Sorted(maps.Keys(comparisons)) {
			s.topic = topic
			comparisons[topic](s)
		}
	}
	return sum
}

// readAnswer reads TraceEvent's answer, and reports false if it was not asked.
func (s *sheet) readAnswer() bool {
	f, err := os.Open(filepath.Join(corpus.Dir(s.t), "traceevent", s.file+".json.gz"))
	if errors.Is(err, os.ErrNotExist) {
		return false
	} else if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		s.t.Fatalf("%s: %v", f.Name(), err)
	}
	if err := json.NewDecoder(z).Decode(s.theirs); err != nil {
		s.t.Fatalf("%s: %v", f.Name(), err)
	}
	return true
}

// readTrace analyses a trace, and counts its events on the way.
func (s *sheet) readTrace(path string) {
	s.path = path
	t := testio.Open(s.t, trace.Open, path)
	defer t.Close()
	s.counts, s.info, s.marks = map[kind]int64{}, newInfo(), map[string]float64{}
	s.told = map[string]int{}
	c := &counter{src: t, sheet: s, decoder: builtin.NewDecoder()}
	var mux etw.Mux
	set, names, samples := analysis.New(&mux), symbols.New(&mux), cpu.New(&mux)
	if err := mux.Run(s.t.Context(), c); err != nil && !errors.Is(err, etw.ErrIncomplete) {
		s.t.Fatalf("%s: %v", path, err)
	}
	s.ours, s.cpu = set.Result(), samples.Result()
	s.stacks = stacks.NewProfile(names.Table(), stacks.Options{Raw: true, AsSampled: true}, samples.Samples()...)
	s.info.lost = t.Stats().Lost
}

// queued reports whether TraceEvent has lost r, because the trace ends before r was put in
// order: whatever comes after the last event that it has.
func (s *sheet) queued(r *etw.Record) bool {
	i := &s.theirs.Info
	return i.Events > 0 && !i.Complete && r.Timestamp > i.LastEventTicks
}

// A counter counts the records that it passes on.
type counter struct {
	src     etw.Source
	sheet   *sheet
	decoder *etw.Decoder
}

func (c *counter) Next(r *etw.Record) error {
	err := c.src.Next(r)
	for err == nil && c.sheet.queued(r) {
		err = c.src.Next(r)
	}
	if err == nil {
		e := c.decoder.Event(r)
		c.sheet.counts[kind{e.Provider, r.ID, r.Version}]++
		c.sheet.info.add(r)
		if c.sheet.keepCustom {
			c.sheet.addCustom(r, e.Provider, c.decoder)
		}
		var edges clr.GCBulkRootConditionalWeakTableElementEdge
		if r.Key() == edges.EventDesc().Key() {
			if _, err := edges.DecodePayload(r.Payload, r.PointerSize); err == nil {
				c.sheet.info.dependent += int(edges.Count)
			}
		}
	}
	if err != nil && err != io.EOF && !errors.Is(err, etw.ErrIncomplete) {
		return fmt.Errorf("%s: %w", c.sheet.file, err)
	}
	return err
}
