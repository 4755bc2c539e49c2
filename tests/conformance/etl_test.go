package conformance

import (
	"bufio"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// The baselines are the output of Microsoft's TraceEvent library for the traces beside them:
// a line for each of the first five events of each name, in the order of the trace, and how
// many there are of each.
//
// TraceEvent has names of its own for events. Which event a name means is found
// out from the lines themselves: the name must fit the same event wherever it
// stands, and no other name may fit that event.

// A baseline is the output for one trace.
type baseline struct {
	events []baselineEvent
	counts map[string]int
}

// A baselineEvent is one EVENT line.
type baselineEvent struct {
	line int
	name string
	at   baselineHeader
	rest string // the fields of the payload
}

// A baselineHeader is the part of a line about an event but its name and payload.
type baselineHeader struct {
	time            string // milliseconds with three decimals
	process, thread int64
	processor       int32
	size            int
}

func readBaseline(t *testing.T, path string) baseline {
	f := testio.File(t, path)
	defer f.Close()
	b := baseline{counts: make(map[string]int)}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		kind, text, _ := strings.Cut(lines.Text(), " ")
		switch kind {
		case "EVENT":
			b.events = append(b.events, parseEventLine(t, n, text))
		case "COUNT":
			colon := strings.LastIndexByte(text, ':')
			count, err := strconv.Atoi(text[colon+1:])
			if err != nil {
				t.Fatalf("%s:%d: %v", path, n, err)
			}
			b.counts[text[:colon]] = count
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

// parseEventLine reads "60.857: PerfView/ManifestData PID=3988; TID=4032;
// PName=PerfView; ProceNum=4; DataLen=13046; Format=1; ...".
func parseEventLine(t *testing.T, line int, text string) baselineEvent {
	at, text, _ := strings.Cut(text, ": ")
	pid := strings.Index(text, " PID=")
	e := baselineEvent{line: line, name: text[:pid], at: baselineHeader{time: at}}
	text = text[pid+1:]
	number := func(name string) int64 {
		value, rest, ok := strings.Cut(strings.TrimPrefix(text, name+"="), ";")
		n, err := strconv.ParseInt(value, 10, 64)
		if !ok || err != nil {
			t.Fatalf("line %d: no %s in %q", line, name, text)
		}
		text = strings.TrimPrefix(rest, " ")
		return n
	}
	e.at.process = number("PID")
	e.at.thread = number("TID")
	_, text, _ = strings.Cut(text, "; ") // PName
	e.at.processor = int32(number("ProceNum"))
	e.at.size = int(number("DataLen"))
	e.rest = text
	return e
}

// An eventKind is the meaning of a name of TraceEvent: all versions of an event.
type eventKind struct {
	kind     etw.Kind
	provider etw.GUID
	id       uint16 // or the opcode of a classic event
}

func kindOf(r *etw.Record) eventKind {
	k := eventKind{r.Kind, r.Provider, r.ID}
	if r.Kind == etw.KindClassic {
		k.id = uint16(r.Opcode)
	}
	return k
}

// headerOf returns TraceEvent's text for the header of r.
func headerOf(r *etw.Record) baselineHeader {
	h := baselineHeader{
		time:      milliseconds(r.Elapsed()),
		process:   r.ProcessID,
		thread:    r.ThreadID,
		processor: r.Processor,
		size:      len(r.Payload),
	}
	if isFlush(r) { // it takes a half of the response time for the thread
		h.process, h.thread = -1, int64(binary.LittleEndian.Uint32(r.Payload[r.PointerSize:]))
	}
	return h
}

// isFlush reports whether r tells that the buffers of a disk are flushed.
func isFlush(r *etw.Record) bool {
	d := (*kernel.DiskIoFlushBuffersV3)(nil).EventDesc()
	return r.Kind == etw.KindClassic && r.Provider == d.Class && r.Opcode == d.Opcode && r.Version >= d.Version
}

// TestFlushThread: the thread that flushes buffers is the one that asked for it, of which
// the event of the request tells with the same packet.
func TestFlushThread(t *testing.T) {
	asked := make(map[etw.Pointer][2]int64)
	flushes := 0
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushInit) error {
		asked[e.Irp] = [2]int64{r.ProcessID, r.ThreadID}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushBuffers) error {
		flushes++
		if got := [2]int64{r.ProcessID, r.ThreadID}; got != asked[e.Irp] {
			t.Errorf("the buffers of disk %d are flushed for %v, which %v asked for", e.DiskNumber, got, asked[e.Irp])
		}
		return nil
	})
	r := testio.Open(t, etl.Open, corpus.File(t, "etl/net.4.5.2.x64.etl"))
	defer r.Close()
	if err := mux.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if flushes == 0 {
		t.Error("no flush in the trace")
	}
}

// milliseconds formats d as .NET formats a number with three decimals: half of
// the last digit is rounded away from zero.
func milliseconds(d time.Duration) string {
	us := d.Round(time.Microsecond).Microseconds()
	return grouped(strconv.FormatFloat(float64(us)/1000, 'f', 3, 64))
}

// grouped puts commas between the thousands of a number.
func grouped(s string) string {
	digits, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if fraction != "" {
		return sign + b.String() + "." + fraction
	}
	return sign + b.String()
}

// A tracedRecord is the part of a record that the test keeps.
type tracedRecord struct {
	header baselineHeader
	kind   eventKind
	record *etw.Record
}

// readTrace returns the records of a trace, with attribution. Of most it keeps no
// payload.
func readTrace(t *testing.T, path string, wanted map[baselineHeader]bool) []tracedRecord {
	r := testio.Open(t, etl.Open, path)
	defer r.Close()
	var all []tracedRecord
	for rec := range testio.Records(t, r.Records()) {
		traced := tracedRecord{header: headerOf(rec), kind: kindOf(rec)}
		if wanted[traced.header] {
			traced.record = rec.Clone()
		}
		if skippedFromCounts(rec) {
			traced.kind = eventKind{}
		}
		all = append(all, traced)
	}
	if s := r.Stats(); s.Unknown+s.Undecodable+s.OutOfOrder != 0 {
		t.Errorf("statistics of an intact file: %+v", s)
	}
	return all
}

var (
	perfInfo   = etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc")
	clrRuntime = etw.MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
)

// skippedFromCounts reports whether the baselines skip some records of an event
// that they otherwise print: samples of the idle thread, unless it ran a DPC or an
// ISR, and methods that were compiled beforehand.
func skippedFromCounts(r *etw.Record) bool {
	switch {
	case r.Kind == etw.KindClassic && r.Provider == perfInfo && r.Opcode == 46:
		return r.ThreadID == 0 && r.Payload[r.PointerSize+6]&3 == 0
	case r.Kind == etw.KindManifest && r.Provider == clrRuntime && r.ID == 143 && len(r.Payload) >= 36:
		const jitted = 0x8
		return r.Payload[32]&jitted == 0
	}
	return false
}

// nameEvents finds out which event each name means.
func nameEvents(t *testing.T, b baseline, all []tracedRecord) map[string]eventKind {
	byHeader := make(map[baselineHeader][]int)
	for i, r := range all {
		byHeader[r.header] = append(byHeader[r.header], i)
	}
	fits := make(map[string]map[eventKind]bool)
	for _, e := range b.events {
		here := make(map[eventKind]bool)
		for _, i := range byHeader[e.at] {
			here[all[i].kind] = true
		}
		if fits[e.name] == nil {
			fits[e.name] = here
			continue
		}
		for k := range fits[e.name] {
			if !here[k] {
				delete(fits[e.name], k)
			}
		}
	}
	for name, kinds := range fits {
		preferKnownName(name, kinds)
	}
	names := make(map[string]eventKind)
	for progress := true; progress; {
		progress = false
		for name, kinds := range fits {
			if _, done := names[name]; done || len(kinds) != 1 {
				continue
			}
			for k := range kinds {
				names[name] = k
				for other := range fits {
					if other != name {
						delete(fits[other], k)
					}
				}
			}
			progress = true
		}
	}
	for name := range fits {
		if _, ok := names[name]; !ok {
			t.Errorf("%s: no event fits all lines, or several do: %v", name, fits[name])
		}
	}
	return names
}

// droppedKinds are the events that the baselines leave out.
var droppedKinds = map[string][]uint16{
	"StackWalk":                              {32, 35, 36, 37, 38},
	"Thread":                                 {3, 4},       // those that exist at the start and at the end
	"FileIo":                                 {32, 35, 36}, // names of files
	"EventTrace":                             {80},         // as the following, known to newer systems only
	"SystemConfig":                           {18, 28},
	"Image":                                  {34},
	"Microsoft-Windows-DotNETRuntime":        {82, 190}, // stacks, and maps from IL to native code
	"Microsoft-Windows-DotNETRuntimeRundown": {144, 150},
}

// droppedKind reports whether the baselines leave out all events of a kind, or it
// stands for those that skippedFromCounts names.
func droppedKind(k eventKind) bool {
	if k == (eventKind{}) {
		return true
	}
	name := classic.ClassName(k.provider)
	switch k.provider {
	case clr.Provider.Desc.GUID:
		name = clr.Provider.Desc.Name
	case rundown.Provider.Desc.GUID:
		name = rundown.Provider.Desc.Name
	}
	return slices.Contains(droppedKinds[name], k.id)
}

// preferKnownName leaves of several kernel events that fit a name the one that has
// it as its opcode's.
func preferKnownName(name string, kinds map[eventKind]bool) {
	_, opcode, _ := strings.Cut(name, "/")
	_, opcode, _ = strings.Cut(opcode, "/")
	for k := range kinds {
		if k.kind == etw.KindClassic && len(kinds) > 1 && classic.OpcodeName(k.provider, etw.Opcode(k.id)) == opcode {
			clear(kinds)
			kinds[k] = true
			return
		}
	}
}

// readBoth returns a baseline, the records of its trace that stand in it, and the kinds of
// events that its names mean.
func readBoth(t *testing.T, path, trace string) (b baseline, all []tracedRecord, names map[string]eventKind) {
	t.Helper()
	b = readBaseline(t, path)
	wanted := make(map[baselineHeader]bool)
	for _, e := range b.events {
		wanted[e.at] = true
	}
	all = readTrace(t, trace, wanted)
	return b, all, nameEvents(t, b, all)
}

func TestETLBaselines(t *testing.T) {
	for _, path := range corpus.Glob(t, "etl", "*.baseline.txt") {
		trace := strings.TrimSuffix(path, ".baseline.txt") + ".etl"
		t.Run(filepath.Base(trace), func(t *testing.T) {
			b, all, names := readBoth(t, path, trace)

			// The lines stand in the order of the trace, and are the first of their
			// event.
			next, equal := 0, 0
			firsts := make(map[eventKind]int)
			for _, e := range b.events {
				kind := names[e.name]
				i := slices.IndexFunc(all[firsts[kind]:], func(r tracedRecord) bool { return r.kind == kind })
				i += firsts[kind]
				if i < firsts[kind] || all[i].header != e.at || i < next {
					t.Errorf("line %d: %s at %s is not the next one of its event, or out of order", e.line, e.name, e.at.time)
					continue
				}
				next, firsts[kind] = i, i+1
				equal++
			}

			counts := make(map[eventKind]int)
			for _, r := range all {
				counts[r.kind]++
			}
			equalCounts := 0
			for name, want := range b.counts {
				if got := counts[names[name]]; got != want {
					t.Errorf("%s: %d events, want %d", name, got, want)
				} else {
					equalCounts++
				}
			}
			named := make(map[eventKind]bool)
			for _, k := range names {
				named[k] = true
			}
			left := 0
			for kind, n := range counts {
				if !named[kind] && !droppedKind(kind) {
					t.Errorf("%d events %v are not in the baseline", n, kind)
				}
				if !named[kind] {
					left += n
				}
			}
			t.Logf("%d of %d events and %d of %d counts are equal; %d records are of those that baselines leave out", equal, len(b.events), equalCounts, len(b.counts), left)
		})
	}
}
