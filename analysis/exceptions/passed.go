package exceptions

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/methods"
	"github.com/etwgen/etwgen/analysis/internal/names"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An exception that crosses an await, or a wait for a task, is thrown again there, by
// ExceptionDispatchInfo.Throw. Its event is like any other: only the call stack tells. So the
// same failure has as many events as there are methods that await it.

// How an exception came to be thrown.
const (
	asNew    = "new"
	rethrown = "rethrown" // by a throw without an operand
	passedOn = "passed on"
	untold   = "" // the trace does not tell
)

// A site is where exceptions were thrown that have much in common.
type site struct {
	t      *thrownType
	m      *names.Entry[said]
	frames top
}

// A top is the innermost frames of a stack: enough to pass those of the runtime, of which
// code that is not compiled ahead has up to five.
type top [8]uint64

func topOf(s etw.Stack) (t top) {
	for i := range min(s.Len(), len(t)) {
		t[i] = s.At(i)
	}
	return t
}

// The kinds of methods that throw for others.
const (
	throwing = iota
	passing
	awaiting // which call those
)

var (
	dispatchInfo = etw.MakeUTF16("System.Runtime.ExceptionServices.ExceptionDispatchInfo")
	throw        = etw.MakeUTF16("Throw")
	awaiter      = etw.MakeUTF16("System.Runtime.CompilerServices.TaskAwaiter")
	source       = etw.MakeUTF16("System.Threading.Tasks.Sources.ManualResetValueTaskSourceCore")
	handling     = etw.MakeUTF16("System.Runtime.EH") // since .NET 9, with what it calls below it
)

// follow learns from the methods that a runtime loads or lists.
func (a *Analysis) follow(mux *etw.Mux) {
	a.code.Follow(mux, func(class, method etw.UTF16) int {
		switch {
		case class.Equal(dispatchInfo) && method.Equal(throw):
			return passing
		case bytes.HasPrefix(class, awaiter), bytes.HasPrefix(class, source):
			return awaiting
		case bytes.HasPrefix(class, handling):
			return throwing
		}
		return -1
	})
}

// Skip learns from a record that is not to count, such as one outside of the time that was asked
// for, which code there is: the list of all methods is at the end of a trace.
func (a *Analysis) Skip(r *etw.Record) error { return a.code.Skip(r) }

// how says how an exception was thrown that does not say of itself that it was thrown again:
// by the caller of the innermost frames of the runtime that throw. Others lie further out where a
// filter of an exception throws.
func how(c *methods.Known, frames top) string {
	by := 0
	for i, a := range frames {
		if c.Spans[throwing].Has(a) {
			by = i + 1
		} else if by > 0 {
			break
		}
	}
	switch {
	case by == len(frames) || frames[by] == 0:
		return untold
	case c.Spans[passing].Has(frames[by]):
		return passedOn
	case !c.Complete:
		return untold
	}
	from := by
	for by < len(frames) && frames[by] != 0 && !c.Lists(frames[by]) {
		by++
	}
	if by > from && (by == len(frames) || c.Spans[awaiting].Has(frames[by])) {
		return untold // the event that lists ExceptionDispatchInfo.Throw may be lost
	}
	return asNew
}

// A Tally is exceptions by how they came to be thrown.
type Tally struct {
	// Count is the number of events.
	Count int `json:"count"`
	// New are those that the trace says were thrown for the first time. With PassedOn, Rethrown
	// and Untold they are all.
	New int `json:"new"`
	// PassedOn were thrown before, and again in those who await or wait for the task that
	// failed: the innermost method of the program is ExceptionDispatchInfo.Throw.
	PassedOn int `json:"passedOn,omitempty"`
	// Rethrown say of themselves that they are, which no throw without an operand does since
	// .NET 9: it has no event.
	Rethrown int `json:"rethrown,omitempty"`
	// Untold may be new or passed on: they have no call stack, or the trace does not list methods, or
	// not all of them.
	Untold int `json:"untold,omitempty"`
}

func (t *Tally) add(how string, n int) {
	t.Count += n
	switch how {
	case passedOn:
		t.PassedOn += n
	case rethrown:
		t.Rethrown += n
	case untold:
		t.Untold += n
	default:
		t.New += n
	}
}

func (t *Tally) plus(u Tally) {
	t.Count += u.Count
	t.New += u.New
	t.PassedOn += u.PassedOn
	t.Rethrown += u.Rethrown
	t.Untold += u.Untold
}

// Throws is how many were thrown for the first time at most: all that are not said to be others.
func (t Tally) Throws() int { return t.New + t.Untold }

// more compares by throws first, and then by all events.
func (t Tally) more(u Tally) int {
	return cmp.Or(cmp.Compare(t.Throws(), u.Throws()), cmp.Compare(t.Count, u.Count))
}

// told returns a number of new or passed on ones, which is unknown if the trace does not tell these
// apart.
func (t Tally) told(n int) measure.Float {
	if t.Untold > 0 {
		return measure.Float{}
	}
	return measure.Known(float64(n))
}

// Text says how many there are of each kind.
func (t Tally) Text() string {
	var b strings.Builder
	fmt.Fprint(&b, t.Throws())
	if t.PassedOn > 0 {
		fmt.Fprintf(&b, ", and passed on %s by await, Wait or GetResult", times(t.PassedOn))
	}
	if t.Rethrown > 0 {
		fmt.Fprintf(&b, ", and thrown again %s", times(t.Rethrown))
	}
	if t.Untold > 0 {
		fmt.Fprintf(&b, "; of %d the trace does not tell whether they were passed on", t.Untold)
	}
	return b.String()
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprint(n, " times")
}
