package trace

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// facts collects facts.
type facts []Fact

// add is not inlined: a hundred calls would have a copy each.
//
//go:noinline
func (f *facts) add(key string, value any, text string) {
	*f = append(*f, Fact{key, value, text})
}

// text adds a text that may be missing.
func (f *facts) text(key, value string) {
	if value != "" {
		f.add(key, value, value)
	}
}

func (f *facts) number(key string, n int64, unit string) {
	f.add(key, n, strings.TrimRight(strconv.FormatInt(n, 10)+" "+unit, " "))
}

// nonzero adds a count that should be 0.
func (f *facts) nonzero(key string, n int64, unit string) {
	if n != 0 {
		f.number(key, n, unit)
	}
}

func (f *facts) time(key string, t etw.FileTime) { f.add(key, t.String(), t.String()) }

func (f *facts) duration(d time.Duration) {
	f.add("durationMs", float64(d)/1e6, d.String())
}

func (f *facts) packing(how []string) {
	if len(how) > 0 {
		f.text("packing", strings.Join(how, ", "))
	}
}

// Damaged reports whether parts of the file could not be read, as far as it was read. A file of
// which the end alone is missing, as where a session was not stopped, is not damaged.
func (f *File) Damaged() bool {
	if r, ok := f.r.(interface{ damaged() bool }); ok && r.damaged() {
		return true
	}
	var all *etw.IncompleteError
	if !errors.As(f.trouble, &all) {
		return false
	}
	return all.Count > len(all.Damages) || slices.ContainsFunc(all.Damages, func(d *etw.Damage) bool {
		return errors.Is(d, etl.ErrGap) || !slices.ContainsFunc(endings, func(ending error) bool { return errors.Is(d, ending) })
	})
}

// endings are the faults of a file of which the end is missing.
var endings = []error{io.ErrUnexpectedEOF, nettrace.ErrNotStopped, etl.ErrMissing}

// ended says whether the trace ended as it should.
func (f *facts) ended(cleanly bool, text string) { f.add("endedCleanly", cleanly, text) }

// conclude says whether the trace ended as it should, if it was read to its end.
func (f *facts) conclude(of *File) {
	switch {
	case errors.Is(of.trouble, etw.ErrIncomplete):
		f.ended(false, "no: "+describe(of.trouble))
	case of.ended && of.Damaged():
		f.ended(false, "no: it has events of kinds that it does not describe, as where it is damaged")
	case of.ended:
		f.ended(true, "yes")
	}
}

// zoneText returns the zone of a time: by how far it is from UTC and, if it has one, by its name.
func zoneText(t time.Time) string {
	text, name := t.Format("UTC-07:00"), t.Location().String()
	if name == text {
		return text
	}
	return text + " " + name
}
