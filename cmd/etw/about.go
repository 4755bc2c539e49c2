package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/trace"
)

// An about is what JSON of every command has beside its result: which traces it is of and
// how good they are, what to mind of the numbers, and what to ask or to record next. There
// is none of it where a method is called on nil, as in tests of tables.
type about struct {
	Warnings []string     `json:"warnings"`
	Trace    *tracesTold  `json:"trace"` // nil if the command is about no trace
	Next     []suggestion `json:"next"`
}

// A tracesTold is what an answer was read from.
type tracesTold struct {
	Files        []fileTold `json:"files"`
	Events       *int64     `json:"events"` // nil if not all were read, for no more were wanted
	LostEvents   int64      `json:"lost"`
	LostBuffers  int64      `json:"lostBuffers"`
	Undecodable  int64      `json:"undecodable"`  // records with damaged headers
	NamedPercent *float64   `json:"namedPercent"` // of the frames of call stacks; nil if none were looked at
	Truncated    bool       `json:"truncated"`    // the end of one of them is missing
}

// A fileTold is one of several traces.
type fileTold struct {
	Name        string   `json:"name"`
	Format      string   `json:"format"`
	Start       string   `json:"start,omitempty"`
	DurationMS  *float64 `json:"durationMs"`
	Events      *int64   `json:"events"`
	LostEvents  int64    `json:"lost"`
	LostBuffers int64    `json:"lostBuffers"`
	Undecodable int64    `json:"undecodable"`
	Truncated   bool     `json:"truncated"`
}

// of says from which traces an answer was read, which was to the end unless part is true.
func (a *about) of(t *trace.Trace, part bool) {
	if a == nil || t == nil {
		return
	}
	for _, f := range t.Files() {
		a.ofFile(f, part)
	}
}

// ofFile is of for one file.
func (a *about) ofFile(f *trace.File, part bool) {
	if a.Trace == nil {
		a.Trace = &tracesTold{Events: new(int64)}
	}
	told := tellFile(f, part)
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
	t.Truncated = t.Truncated || told.Truncated
	a.warn(told.warnings()...)
	if told.LostEvents+told.LostBuffers > 0 || told.Truncated {
		for _, text := range advice(f) {
			a.suggest("", text)
		}
	}
}

// tellFile says what there is to say of a file that was read.
func tellFile(f *trace.File, part bool) fileTold {
	n := f.Stats()
	told := fileTold{Name: f.Name(), Format: f.Format(), LostEvents: n.Lost, LostBuffers: n.LostBuffers, Undecodable: n.Undecodable}
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
				told.Truncated = !v
			}
		}
	}
	return told
}

// warnings says what of a file makes numbers less than they could be.
func (f *fileTold) warnings() []string {
	var list []string
	if f.LostEvents+f.LostBuffers > 0 {
		list = append(list, lostText(f.LostEvents, f.LostBuffers))
	}
	if f.Truncated {
		list = append(list, "the end of "+f.Name+" is missing: counts and sums are lower bounds")
	}
	return list
}

// lostText says that events were lost.
func lostText(events, buffers int64) string {
	return fmt.Sprintf("at least %d events were lost when the trace was recorded: counts and sums are lower bounds", max(events, buffers))
}

// readTo says that a trace could not be read to its end, if there was trouble with it.
func (a *about) readTo(trouble error) {
	if trouble == nil || a.Trace == nil {
		return
	}
	a.Trace.Truncated = true
	a.warn(notToItsEnd)
}

const notToItsEnd = "the trace could not be read to its end: counts and sums are lower bounds"

// named says how many of the frames of call stacks have names.
func (a *about) named(percent float64) {
	if a.Trace != nil {
		a.Trace.NamedPercent = &percent
	}
}

// warn adds warnings that are not there yet.
func (a *about) warn(texts ...string) {
	if a == nil {
		return
	}
	for _, text := range texts {
		if !slices.Contains(a.Warnings, text) {
			a.Warnings = append(a.Warnings, text)
		}
	}
}

// lack says what traces lack for an answer, and how to record it.
func (a *about) lack(needs []need.Need) {
	lines, record := explainNeeds(needs)
	a.warn(lines...)
	if record != "" {
		a.suggest("etw collect -p PID --providers '"+record+"'", "record what is missing")
	}
}

// append appends the fields of the object.
func (a *about) append(b []byte) []byte {
	if a == nil {
		a = new(about)
	}
	told := *a
	told.Warnings, told.Next = append([]string{}, a.Warnings...), append([]suggestion{}, a.Next...)
	text, err := json.Marshal(told)
	if err != nil { // there is nothing in it that could not be written
		panic(err)
	}
	return appendSafeJSON(b, text[1:len(text)-1])
}
