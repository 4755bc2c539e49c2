package peers

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/tests/page"
)

// peersVariable says which traces are compared event by event: all, if it is so,
// else those that take little time.
const peersVariable = "ETWGEN_PEERS"

// fewBytes is the size up to which a trace takes little time.
const fewBytes = 62_000

// TestEventByEvent holds each event, and each field of it, against TraceEvent's own output
// of the same trace, here and now.
func TestEventByEvent(t *testing.T) {
	peer := unpackPeer(t)
	sum := &fieldTotals{reasons: map[string]int{}}
	for _, path := range slices.Concat(corpus.Glob(t, "nettrace/*.net*"), corpus.Glob(t, "dotnet10/*.net*"), corpus.Glob(t, "universal/*.nettrace")) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, ".txt") || os.Getenv(peersVariable) != "all" && info.Size() > fewBytes {
			continue
		}
		c := &eventComparison{t: t, file: filepath.Base(path), total: sum}
		c.compare(peer, unpackedTrace(t, path))
		sum.traces++
	}
	t.Logf("%d traces, %d events, %d fields, of which %d are equal", sum.traces, sum.events, sum.fields, sum.fields-sum.explained)
	for _, why := range slices.Sorted(maps.Keys(sum.reasons)) {
		t.Logf("%8d %s", sum.reasons[why], fieldReasons[why])
	}
	if *update && os.Getenv(peersVariable) == "all" && !t.Failed() {
		sum.write(t)
	}
}

type fieldTotals struct {
	traces, events, fields, explained int
	reasons                           map[string]int
}

func (sum *fieldTotals) write(t *testing.T) {
	var whys strings.Builder
	for _, why := range slices.Sorted(maps.Keys(fieldReasons)) {
		fmt.Fprintf(&whys, "| %d | %s |\n", sum.reasons[why], fieldReasons[why])
	}
	root := filepath.Join("..", "..")
	page.Replace(t, root, "accuracy-traceevent.md", "fields", fmt.Sprintf("| traces | events | figures compared | equal | with a reason |\n|--:|--:|--:|--:|--:|\n| %d | %d | %d | %d | %d |\n",
		sum.traces, sum.events, sum.fields, sum.fields-sum.explained, sum.explained))
	page.Replace(t, root, "accuracy-traceevent.md", "field reasons", page.Reasons+whys.String())
}

// unpackPeer returns the program that asks TraceEvent, or skips the test.
func unpackPeer(t *testing.T) string {
	t.Helper()
	packed := filepath.Join(corpus.Dir(t), "..", "peers", "traceevent.xz")
	if _, err := os.Stat(packed); err != nil || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "386" {
		t.Skip("TraceEvent is not here as a program; it is for Linux x86-64")
	}
	program := filepath.Join(t.TempDir(), "traceevent")
	out, err := exec.Command("xz", "-dc", packed).Output()
	if err != nil {
		t.Skipf("TraceEvent cannot be unpacked: %v", err)
	}
	if err := os.WriteFile(program, out, 0o700); err != nil {
		t.Fatal(err)
	}
	small := corpus.File(t, "dotnet10", "counters.nettrace")
	if err := exec.Command(program, "info", small).Run(); err != nil {
		t.Skipf("TraceEvent does not run here: %v", err)
	}
	return program
}

// unpackedTrace returns the path of a trace that is not compressed.
func unpackedTrace(t *testing.T, path string) string {
	t.Helper()
	if filepath.Ext(path) != ".gz" {
		return path
	}
	b := testio.Unpacked(t, path)
	path = filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
	testio.Write(t, path, b)
	return path
}

// A peerEvent is TraceEvent's output for an event.
type peerEvent struct {
	Provider, GUID, Name, Type, Keywords string
	Activity, Related                    string
	ID, Level, Opcode, Version           int
	PID, TID, Ticks                      int64
	Size, Stack                          int
	MS                                   float64
	Fields                               map[string]any
}

// An ownEvent is an event as we read it.
type ownEvent struct {
	record    *etw.Record
	info      *etw.EventInfo
	ms        float64
	opcode    etw.Opcode
	task      uint16
	fields    map[string]any
	narrow    bool // it has bools of one byte
	corrected bool // its type is what the source writes, and not what it declares
	exact     bool // it has numbers alone, and they take exactly all bytes
}

// A stream is the events that one thread wrote of one kind: both sides have these
// in the same order.
type stream struct {
	thread int64
	kind
}

// An eventComparison compares the events of a trace.
type eventComparison struct {
	t       *testing.T
	file    string
	total   *fieldTotals
	source  *nettrace.Reader
	decoder *etw.Decoder
	waiting map[stream][]ownEvent
	ended   bool
	whole   bool           // the trace was stopped
	facts   map[kind]*fact // of the runtime's events
	shown   map[string]int // differences of an event's field
}

func (c *eventComparison) compare(peer, path string) {
	var err error
	if c.source, err = nettrace.Open(path); err != nil {
		c.t.Fatal(err)
	}
	defer c.source.Close()
	c.facts = runtimeFacts(c.t)
	c.decoder, c.waiting, c.shown = builtin.NewDecoder(), map[stream][]ownEvent{}, map[string]int{}
	cmd := exec.CommandContext(c.t.Context(), peer, "events", path)
	out := testio.Start(c.t, cmd)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			break
		}
		if err != nil {
			c.t.Fatal(err)
		}
		c.line(line)
	}
	if err := cmd.Wait(); err != nil {
		c.t.Fatalf("%s: TraceEvent: %v", c.file, err)
	}
	for c.read() {
	}
	for name, n := range c.shown {
		if n > 1 {
			c.t.Errorf("%s: %s differs in %d events", c.file, name, n)
		}
	}
	left := 0
	for _, list := range c.waiting {
		left += len(list)
	}
	if left > 0 && c.whole {
		c.t.Errorf("%s: %d events are only here", c.file, left)
	} else {
		c.total.explain(whyQueued, left)
	}
}

func (sum *fieldTotals) explain(why string, n int) {
	sum.fields += n
	sum.explained += n
	if n > 0 {
		sum.reasons[why] += n
	}
}

// line compares an event that TraceEvent has.
func (c *eventComparison) line(line []byte) {
	var p peerEvent
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&p); err != nil {
		c.t.Fatalf("%s: %v in %s", c.file, err, line)
	}
	if strings.HasPrefix(p.Provider, "Microsoft-Windows-DotNETRuntime") && p.ID >= peerDynamic {
		p.ID = int(dynamicEvent)
	}
	key := stream{p.TID, kind{p.Provider, uint16(p.ID), uint8(p.Version)}}
	for len(c.waiting[key]) == 0 && c.read() {
	}
	if len(c.waiting[key]) == 0 {
		c.t.Errorf("%s: %+v is only there", c.file, key)
		return
	}
	own := c.waiting[key][0]
	c.waiting[key] = c.waiting[key][1:]
	c.total.events++
	c.header(&own, &p)
	c.fields(&own, &p)
}

// read reads an event of ours, and reports whether there was one.
func (c *eventComparison) read() bool {
	if c.ended {
		return false
	}
	var r etw.Record
	if err := c.source.Next(&r); err != nil {
		if err != io.EOF && !errors.Is(err, etw.ErrIncomplete) {
			c.t.Fatalf("%s: %v", c.file, err)
		}
		c.ended, c.whole = true, err == io.EOF
		return false
	}
	own := ownEvent{record: r.Clone(), ms: math.NaN(), opcode: r.Opcode}
	info := *c.decoder.Event(&r)
	own.info = &info
	own.ms = float64(r.Elapsed().Nanoseconds()) / 1e6
	values, err := c.decoder.Decode(&r)
	if err != nil {
		c.t.Errorf("%s: %v", c.file, err)
	}
	if values != nil {
		desc := values.EventDesc()
		if desc.Opcode != 0 {
			own.opcode = desc.Opcode
		}
		own.task = cmp.Or(r.Task, desc.Task)
		own.narrow = hasNarrow(desc.Fields)
		own.corrected = desc.Corrected && len(c.decoder.Rest()) == 0
		own.exact = info.Basis == etw.BasisSchema && len(c.decoder.Rest()) == 0 && !slices.ContainsFunc(desc.Fields, isText)
		d := json.NewDecoder(bytes.NewReader(etw.AppendFieldsJSON(nil, values, etw.EnumNumbers)))
		d.UseNumber()
		if err := d.Decode(&own.fields); err != nil {
			c.t.Fatalf("%s: %s: %v", c.file, info.Name, err)
		}
	}
	key := stream{r.ThreadID, kind{info.Provider, r.ID, r.Version}}
	c.waiting[key] = append(c.waiting[key], own)
	return true
}

func isText(f etw.FieldDesc) bool { return f.Type == etw.InUnicodeString }

func hasNarrow(fields []etw.FieldDesc) bool {
	return slices.ContainsFunc(fields, func(f etw.FieldDesc) bool { return f.Type == etw.InBool8 || hasNarrow(f.Fields) })
}

// differ reports a difference that has no reason, but not too many.
func (c *eventComparison) differ(own *ownEvent, field string, ours, theirs any) {
	name := own.info.Provider + " " + own.info.Name + " " + field
	if c.shown[name]++; c.shown[name] == 1 && len(c.shown) <= 20 {
		c.t.Errorf("%s: %s %s, at %v ms: %s is %v, and TraceEvent says %v", c.file, own.info.Provider, own.info.Name, own.ms, field, ours, theirs)
	}
}

// one compares values; where they are not equal there may be a reason.
func (c *eventComparison) one(own *ownEvent, field string, isEqual bool, ours, theirs any, why string) {
	c.total.fields++
	switch {
	case isEqual:
	case why != "":
		c.total.explained++
		c.total.reasons[why]++
	default:
		c.differ(own, field, ours, theirs)
	}
}

func guidText(g etw.GUID) string {
	if g.IsZero() {
		return ""
	}
	return g.String()
}

// header compares the values outside the payload.
func (c *eventComparison) header(own *ownEvent, p *peerEvent) {
	r := own.record
	name := filter.ParseEvent(p.Name).Match(r, own.info)
	c.one(own, "name", name, own.info.Name, p.Name, nameReason(own, p))
	c.one(own, "time", r.Timestamp == p.Ticks && math.Abs(own.ms-p.MS) <= 1.01e-4, own.ms, p.MS, "")
	c.one(own, "level", int(r.Level) == p.Level, r.Level, p.Level, "")
	c.one(own, "opcode", int(own.opcode) == p.Opcode, own.opcode, p.Opcode, opcodeReason(own, p))
	c.one(own, "keywords", fmt.Sprintf("%#x", r.Keywords) == p.Keywords, r.Keywords, p.Keywords, "")
	c.one(own, "process", r.ProcessID == p.PID, r.ProcessID, p.PID, "")
	c.one(own, "size", len(r.Payload) == p.Size, len(r.Payload), p.Size, "")
	hashed := r.Provider[7]>>4 != 5 && strings.HasPrefix(p.GUID[14:], "5")
	c.one(own, "guid", guidText(r.Provider) == p.GUID, r.Provider, p.GUID, when(hashed, whyHashed))
	c.one(own, "activity", guidText(r.ActivityID) == p.Activity, r.ActivityID, p.Activity, "")
	c.one(own, "related activity", guidText(r.RelatedActivityID) == p.Related, r.RelatedActivityID, p.Related, when(c.source.Header().Version == 3, whyRelated))
	c.one(own, "stack", r.Stack.Len() == p.Stack, r.Stack.Len(), p.Stack, when(isMethodStack(r) && p.Stack == 0, whyMethodStacks))
}

// ofParser reports whether a parser of TraceEvent for one provider made an event, or none,
// rather than the one for events that the trace describes.
func ofParser(p *peerEvent) bool { return p.Type != "DynamicTraceEventData" }

// fields compares the fields by name, whatever the case.
func (c *eventComparison) fields(own *ownEvent, p *peerEvent) {
	theirs, ours := p.Fields, own.fields
	if inner, ok := theirs[""].(map[string]any); ok && len(theirs) == 1 { // what has no name
		theirs = inner
	}
	if own.info.Name == "GCDynamicEvent" && theirs["DataSize"] == nil {
		c.one(own, "data", false, ours, theirs, whyDynamicFields)
		return
	}
	left, right := lowered(theirs), lowered(ours)
	if v, ok := right[misspelled]; ok {
		right["continuewithtaskid"] = v
	}
	for name, v := range left {
		w, ok := right[name]
		if other, has := peerFields[name]; !ok && has {
			w, ok = right[other]
		}
		if !ok {
			c.one(own, name, false, nil, v, c.missingReason(own, p, name, v))
			continue
		}
		got := same(v, w)
		why := ""
		if got != equal {
			why = valueReason(own, p, name, v, w, got)
		}
		c.one(own, name, got == equal, w, v, why)
	}
}

// misspelled is a field as .NET Core 3.1 writes it, which later was named right.
const misspelled = "continuwwithtaskid"

// peerFields are names that TraceEvent gives fields.
var peerFields = map[string]string{"": "field0", "promoted": "bytes", "continuationid": "continuewithtaskid", "namespaceid": "namespaceprocessid",
	"id": "joinid"}
