package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A Part says which part of another trace a trace is. The zero Part is all of it.
type Part struct {
	From       *time.Duration `json:"from,omitempty"` // since the session began, in nanoseconds; nil if from its begin
	To         *time.Duration `json:"to,omitempty"`   // up to, but not including
	Processes  string         `json:"processes,omitempty"`
	Threads    string         `json:"threads,omitempty"` // numbers such as 4,1000-1999
	Activities []string       `json:"activities,omitempty"`
	During     []string       `json:"during,omitempty"`
	Lives      []Life         `json:"lives,omitempty"` // of numbers of Processes that others had, too: those that are meant
	// Interval is the time between two samples of the kernel in nanoseconds, as those of the whole tell
	// it by their times, in an .etl file; or 0.
	Interval int64 `json:"interval"`
	// Lacks says which ends of the whole were missing, in an .etl file.
	Lacks Lacks `json:"lacks"`
}

// A Life is the time in which a program had the number of a process.
type Life struct {
	PID  int64          `json:"pid"`
	Name string         `json:"name,omitempty"`
	From *time.Duration `json:"from,omitempty"` // since the session began; nil if from before
	To   *time.Duration `json:"to,omitempty"`   // nil if to its end
}

// Lacks are ends of a recording that a trace does not have.
type Lacks uint8

// The ends.
const (
	LacksBegin Lacks = 1 << iota
	LacksEnd
)

// IsAll reports whether nothing is left out.
func (p *Part) IsAll() bool {
	return p == nil || p.From == nil && p.To == nil && p.Processes+p.Threads == "" && len(p.Activities)+len(p.During) == 0
}

// String says in words which part it is.
func (p *Part) String() string {
	var list []string
	add := func(kind, value string) {
		if value != "" {
			list = append(list, kind+" "+value)
		}
	}
	at := func(d *time.Duration) string {
		if d == nil {
			return ""
		}
		return fmt.Sprintf("%.3f ms", float64(*d)/1e6)
	}
	add("from", at(p.From))
	add("to", at(p.To))
	processes, names := p.Processes, []string(nil)
	for _, l := range p.Lives {
		if !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	if names != nil {
		processes += " (" + strings.Join(names, ", ") + ")"
	}
	add("process", processes)
	add("thread", p.Threads)
	add("activity", strings.Join(p.Activities, ", "))
	add("during", strings.Join(p.During, ", "))
	return strings.Join(list, ", ")
}

// Mark is the name of the provider of the event that says in a .nettrace file which part it is,
// and begins the text in the header of an .etl file that does.
const Mark = "etwgen-part"

// markOf is Mark behind the name in the header of an .etl file.
const markOf = "; " + Mark + " "

// mostMark is how long the text of a mark is at most, in bytes.
const mostMark = 2000

// MarkText returns the text of a mark, or "" if it is of no part, or too long. However long Interval is,
// it is as long: the header of a file has room for one of it that is known at the end.
func (p *Part) MarkText() string {
	text, err := json.Marshal(p)
	if err != nil || p.IsAll() || len(text) > mostMark {
		return ""
	}
	const room = 20 // for the digits of an int64
	return fmt.Sprintf("%s%*s", text, room-len(strconv.FormatInt(p.Interval, 10)), "")
}

// readPart reads the text of a mark. It returns nil if that makes no sense.
func readPart(text string) *Part {
	p := new(Part)
	if len(text) > mostMark || json.Unmarshal([]byte(text), p) != nil || p.IsAll() || p.From != nil && p.To != nil && *p.From >= *p.To ||
		strings.Trim(p.Processes+p.Threads, "0123456789,-") != "" {
		return nil
	}
	return p
}

// MarkFile returns the name of a file in the header of an .etl file with a mark behind it.
func (p *Part) MarkFile(name string) string {
	if text := p.MarkText(); text != "" {
		return name + markOf + text
	}
	return name
}

// CutMark returns a name in the header of an .etl file without the mark, and its part; nil if
// there is no such mark, or it is damaged.
func CutMark(name string) (string, *Part) {
	before, text, ok := strings.Cut(name, markOf)
	if !ok {
		return name, nil
	}
	return before, readPart(text)
}

// MarkEvent returns the event that says so in a .nettrace file, whose time and thread are those of a
// record; nil if nothing is to be said.
func (p *Part) MarkEvent(like *etw.Record) *etw.Record {
	text := p.MarkText()
	if text == "" {
		return nil
	}
	return &etw.Record{
		Kind: etw.KindManifest, ProviderName: Mark, Provider: etw.NameGUID(Mark), ID: 1, Payload: etw.AppendUTF16(nil, text+"\x00"),
		Clock: like.Clock, Timestamp: like.Timestamp, ProcessID: like.ProcessID, ThreadID: like.ThreadID, Processor: like.Processor,
		Schema: &etw.EventDesc{Name: "Part", Named: true, ID: 1, Provider: &etw.ProviderDesc{Name: Mark}, Fields: []etw.FieldDesc{{Name: "Selection", Type: etw.InUnicodeString}}},
	}
}

// isMark reports whether a record is the mark of a .nettrace file.
func isMark(r *etw.Record) bool { return r.ProviderName == Mark && r.Kind == etw.KindManifest }

// mostHead is how much of a .nettrace file is looked at for its mark, which is in the first block.
const mostHead = 32 << 10

// markIn returns the part of the mark in the begin of a .nettrace file, or nil.
func markIn(head []byte) *Part {
	if !bytes.Contains(head, []byte(Mark)) && !bytes.Contains(head, etw.MakeUTF16(Mark)) {
		return nil
	}
	r, err := nettrace.NewReader(bytes.NewReader(head), nettrace.WithFileOrder())
	if err != nil {
		return nil
	}
	defer r.Close()
	var rec etw.Record
	if r.Next(&rec) != nil || !isMark(&rec) {
		return nil
	}
	return readPart(strings.TrimRight(etw.UTF16(rec.Payload).String(), "\x00"))
}

// look looks for the mark in the begin of a .nettrace file, and returns all of that.
func look(r io.Reader) (io.Reader, *Part) {
	head := make([]byte, mostHead)
	n, err := readFull(r, head)
	if err != nil {
		r = failing{err}
	}
	return &rejoined{head: head[:n], rest: r}, markIn(head[:n])
}

// A failing reader has an error that was met before.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// unmarked leaves marks out, and counts them.
func unmarked(do func(*etw.Record) error, marks *int64) func(*etw.Record) error {
	return func(r *etw.Record) error {
		if !isMark(r) {
			return do(r)
		}
		*marks++
		return nil
	}
}

// etlPart returns which part an .etl file is, or several of one session are.
func etlPart(headers []etl.Header) (all *Part, differ bool) {
	var list []*Part
	for _, h := range headers {
		_, p := CutMark(h.LogFileName)
		list = append(list, p.since(h.Start().Sub(headers[0].Start())))
	}
	return together(list)
}

// since returns a part of a session that began so long after another, in the time of that.
func (p *Part) since(d time.Duration) *Part {
	if p == nil || d == 0 {
		return p
	}
	moved := *p
	moved.Lives = slices.Clone(p.Lives)
	times := []**time.Duration{&moved.From, &moved.To}
	for i := range moved.Lives {
		times = append(times, &moved.Lives[i].From, &moved.Lives[i].To)
	}
	for _, at := range times {
		if *at != nil {
			t := **at + d
			*at = &t
		}
	}
	return &moved
}

// begin returns when a part begins.
func (p *Part) begin() time.Duration {
	if p.From == nil {
		return math.MinInt64
	}
	return *p.From
}

// joins makes a part that of the processes of another, too, if both are of processes alone and of one time,
// and reports whether it did.
func (p *Part) joins(other *Part) bool {
	processes := func(p Part) Part {
		p.Processes, p.Lives, p.Lacks, p.Interval = "", nil, 0, 0
		return p
	}
	if p.Processes == "" || other.Processes == "" || p.Threads != "" || len(p.Activities)+len(p.During) > 0 || !reflect.DeepEqual(processes(*p), processes(*other)) {
		return false
	}
	if p.Processes != other.Processes {
		p.Processes += "," + other.Processes
	}
	for _, l := range other.Lives {
		if !slices.ContainsFunc(p.Lives, func(x Life) bool { return reflect.DeepEqual(x, l) }) {
			p.Lives = append(slices.Clip(p.Lives), l)
		}
	}
	return true
}

// together returns which part several are together. Those that differ in more than the time or the
// processes, or do not adjoin, have none together, and differ is true.
func together(list []*Part) (all *Part, differ bool) {
	if !slices.ContainsFunc(list, func(p *Part) bool { return p != nil }) {
		return nil, false
	}
	if slices.Contains(list, nil) {
		return nil, true
	}
	order.Stable(list, func(a, b *Part) int { return cmp.Compare(a.begin(), b.begin()) })
	sum := *list[0]
	for _, p := range list[1:] {
		sum.Lacks |= p.Lacks
		sum.Interval = cmp.Or(sum.Interval, p.Interval)
		if sum.joins(p) {
			continue
		}
		if p.Processes != sum.Processes || !reflect.DeepEqual(p.Lives, sum.Lives) || p.Threads != sum.Threads || !slices.Equal(p.Activities, sum.Activities) || !slices.Equal(p.During, sum.During) ||
			sum.To != nil && p.begin() > *sum.To {
			return nil, true
		}
		if sum.To != nil && (p.To == nil || *p.To > *sum.To) {
			sum.To = p.To
		}
	}
	if sum.IsAll() {
		return nil, false
	}
	return &sum, false
}
