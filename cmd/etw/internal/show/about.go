package show

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/trace"
)

// An About is the part of every command's JSON beside its result: which traces it is of and
// how good they are, cautions about the numbers, and questions and recordings to follow.
// There is none of it where a method is called on nil, as in tests of tables.
type About struct {
	Warnings []string     `json:"warnings"`
	Trace    *TracesTold  `json:"trace"` // nil if the command is about no trace
	Next     []Suggestion `json:"next"`
	Needs    []NeedTold   `json:"needs,omitempty"` // the events that the answer is of

	part bool // a trace is a part of another, which may have more
}

// A NeedTold is events that an answer is of, and whether the trace has them. Where they are
// absent a number of 0 tells nothing.
type NeedTold struct {
	Events   string     `json:"events"`
	Provider string     `json:"provider,omitempty"`
	Keywords string     `json:"keywords,omitempty"`
	Level    int        `json:"level,omitempty"`
	Recorder string     `json:"recorder,omitempty"` // the tools that record them
	State    need.State `json:"state"`
}

// Tell says which of the events that an answer is of the trace has. Of several traces it is
// told one by one, and the state is that of the trace which has least.
func (a *About) Tell(needs []need.Need, seen *need.Seen) {
	if a == nil || seen == nil {
		return
	}
	lost := a.Trace != nil && (a.Trace.LostEvents+a.Trace.LostBuffers > 0 || a.Trace.Truncated || a.Trace.Damaged)
	for i := range needs {
		n := &needs[i]
		told := NeedTold{Events: n.What, Provider: n.Provider, Level: int(n.Level), Recorder: n.Recorder, State: seen.Has(n, lost)}
		if a.part && told.State == need.Absent {
			told.State = need.Unknown
		}
		if n.Keywords != 0 && n.Keywords != need.All {
			told.Keywords = fmt.Sprintf("0x%x", n.Keywords)
		}
		at := slices.IndexFunc(a.Needs, func(n NeedTold) bool { return n.Events == told.Events })
		if at < 0 {
			a.Needs = append(a.Needs, told)
		} else if less := slices.Index(lessAndLess, told.State); less > slices.Index(lessAndLess, a.Needs[at].State) {
			a.Needs[at].State = told.State
		}
	}
}

// lessAndLess are the states of needs, from all events to surely none.
var lessAndLess = []need.State{need.Present, need.Unknown, need.Lost, need.Absent}

// A TracesTold is the source of an answer.
type TracesTold struct {
	Files        []FileTold `json:"files"`
	Events       *int64     `json:"events"` // nil if not all were read, for no more were wanted
	LostEvents   int64      `json:"lost"`
	LostBuffers  int64      `json:"lostBuffers"`
	Undecodable  int64      `json:"undecodable"`  // records with damaged headers
	NamedPercent *float64   `json:"namedPercent"` // of the frames of call stacks; nil if none were looked at
	Truncated    bool       `json:"truncated"`    // the end of one of them is missing
	Damaged      bool       `json:"damaged"`      // parts within one of them could not be read
}

// A FileTold is one of several traces.
type FileTold struct {
	Name        string   `json:"name"`
	Format      string   `json:"format"`
	Start       string   `json:"start,omitempty"`
	DurationMS  *float64 `json:"durationMs"`
	Events      *int64   `json:"events"`
	LostEvents  int64    `json:"lost"`
	LostBuffers int64    `json:"lostBuffers"`
	Undecodable int64    `json:"undecodable"`
	Truncated   bool     `json:"truncated"`
	Damaged     bool     `json:"damaged"`
}

// Of says from which traces an answer was read, which was to the end unless part is true.
func (a *About) Of(t *trace.Trace, part bool) {
	if a == nil || t == nil {
		return
	}
	for _, f := range t.Files() {
		a.OfFile(f, part)
	}
}

// OfFile is of for one file.
func (a *About) OfFile(f *trace.File, part bool) {
	if a.Trace == nil {
		a.Trace = &TracesTold{Events: new(int64)}
	}
	told := tellFile(f, part)
	a.part = a.part || f.Part() != nil
	t := a.Trace
	t.Files = append(t.Files, told)
	if told.Events == nil || t.Events == nil {
		t.Events = nil
	} else {
		*t.Events += *told.Events
	}
	t.LostEvents += told.LostEvents
	t.LostBuffers += told.LostBuffers
	t.Undecodable += told.Undecodable
	t.Truncated, t.Damaged = t.Truncated || told.Truncated, t.Damaged || told.Damaged
	a.Warn(told.warnings()...)
	if told.LostEvents+told.LostBuffers > 0 || told.Truncated || told.Damaged {
		for _, text := range Advice(f) {
			a.Suggest("", text)
		}
	}
}

// tellFile reports on a file that was read.
func tellFile(f *trace.File, part bool) FileTold {
	n := f.Stats()
	told := FileTold{Name: f.Name(), Format: f.Format(), LostEvents: n.Lost, LostBuffers: n.LostBuffers, Undecodable: n.Undecodable, Damaged: f.Damaged()}
	if !part {
		told.Events = &n.Records
	}
	for _, fact := range f.Facts() {
		switch v := fact.Value.(type) {
		case string:
			if fact.Key == "start" {
				told.Start = v
			}
		case float64:
			if fact.Key == "durationMs" && !part {
				told.DurationMS = &v
			}
		case bool:
			if fact.Key == "endedCleanly" && !part {
				told.Truncated = !v && !told.Damaged
			}
		}
	}
	return told
}

// warnings names the faults of a file that weaken its numbers.
func (f *FileTold) warnings() []string {
	var list []string
	if f.LostEvents+f.LostBuffers > 0 {
		list = append(list, LostText(f.LostEvents, f.LostBuffers, f.Damaged))
	}
	if f.Truncated {
		list = append(list, "the end of "+f.Name+" is missing: counts and sums are lower bounds")
	}
	if f.Damaged {
		list = append(list, "parts of "+f.Name+" could not be read: counts and sums may be off")
	}
	return list
}

// LostText says that events were lost. In a damaged file those of which the stacks, say, are lost
// may count as others, so that sums are no lower bounds.
func LostText(events, buffers int64, damaged bool) string {
	if damaged {
		return fmt.Sprintf("at least %d events are missing, where the trace is damaged or since they were lost when it was recorded: counts and sums may be off", max(events, buffers))
	}
	return fmt.Sprintf("at least %d events were lost when the trace was recorded: counts and sums are lower bounds", max(events, buffers))
}

// ReadTo says that not all of a trace could be read, if there was trouble with it.
func (a *About) ReadTo(trouble error) {
	if trouble == nil || a.Trace == nil || a.Trace.Damaged {
		return
	}
	a.Trace.Truncated = true
	a.Warn(NotWhole)
}

// NotWhole is said of a trace whose end is missing, and NotSound of one that is damaged.
const (
	NotWhole = "not all of the trace could be read: counts and sums are lower bounds"
	NotSound = "parts of the trace could not be read: counts and sums may be off"
)

// Named says how many of the frames of call stacks have names.
func (a *About) Named(percent float64) {
	if a.Trace != nil {
		a.Trace.NamedPercent = &percent
	}
}

// Warn adds warnings that are not there yet. It is not inlined: its loops are long, and its calls
// many.
//
//go:noinline
func (a *About) Warn(texts ...string) {
	if a == nil {
		return
	}
	for _, text := range texts {
		if !slices.Contains(a.Warnings, text) {
			a.Warnings = append(a.Warnings, text)
		}
	}
}

// Lack names the events that traces lack for an answer, and how to record it.
func (a *About) Lack(needs []need.Need, t *trace.Trace) {
	for i := range needs {
		a.Warn(OnSystem(needs[i].Lack(), t))
	}
	if record := recording(needs, t); record != "" {
		a.Suggest(record, "record the missing events")
	}
}

// append appends the fields of the object.
func (a *About) append(b []byte) []byte {
	if a == nil {
		a = new(About)
	}
	told := *a
	told.Warnings, told.Next = append([]string{}, a.Warnings...), append([]Suggestion{}, a.Next...)
	text, err := json.Marshal(told)
	if err != nil { // there is nothing in it that could not be written
		panic(err)
	}
	return cli.AppendSafeJSON(b, text[1:len(text)-1])
}

// Advice tells how to avoid losses.
func Advice(f *trace.File) []string {
	n := f.Stats()
	var list []string
	switch full := n.Lost+n.LostBuffers > 0; {
	case !full:
	case f.Damaged(): // gaps in the numbers of events are no sign of a full buffer then
		list = append(list, "events were lost where the file is damaged; whether the buffer was full, too, cannot be told")
	case f.Head().Recorder == trace.Windows:
		list = append(list, "buffers were full: record with more and larger ones (logman -nb 64 256 -bs 1024, PerfView /BufferSizeMB:1024), or fewer events")
	case f.Format() == "CTF 1.8":
		list = append(list, "buffers were full: record with larger ones (lttng enable-channel --subbuf-size=4M), or fewer events")
	default:
		list = append(list, "the buffer was full: record with a larger one (dotnet-trace collect --buffersize 1024), with fewer keywords or at a lower level")
	}
	for _, fact := range f.Facts() {
		switch clean, ok := fact.Value.(bool); {
		case !ok || fact.Key != "endedCleanly" || clean:
		case f.Damaged():
			list = append(list, "the file is damaged: the rest is shown; if there is another copy of it, read that one, or record again")
		default:
			list = append(list, "the end is missing: the rest is shown; stop the session before the file is copied, and let the program end by itself")
		}
	}
	return list
}
