// Package findings states in sentences the findings in the results of analyses: that
// collections stopped a program for a tenth of the time, that its thread pool starved. Use
// it to begin a report, to answer an assistant, or to write a line into a log.
//
//	for _, f := range findings.Of(res) {
//		fmt.Println(f.Severity, f.PID, f.Text)
//	}
//
// One function makes the findings of the answer about one runtime or process; [Of] asks all
// of them. The thresholds are in thresholds.go, each with its reason.
package findings

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/internal/order"
)

// A Severity says how much a finding matters.
type Severity string

// The severities.
const (
	Problem Severity = "problem" // likely one
	Look    Severity = "look"    // worth a look
	Note    Severity = "note"
)

// rank orders severities, the worst first.
func (s Severity) rank() int { return slices.Index([]Severity{Problem, Look, Note}, s) }

// A Finding is something that stands out, in a sentence.
type Finding struct {
	// ID names the kind of finding, such as gc.longestPause. It stays the same when the
	// sentence is improved.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// PID, CLRInstance and Life say of which runtime or process it is, as results do. PID
	// is 0 if it is of the whole trace.
	PID         int64  `json:"pid,omitempty"`
	CLRInstance uint16 `json:"clrInstance,omitempty"`
	Life        int    `json:"life,omitempty"`
	// Process is its name, where others had the id before or after.
	Process string `json:"process,omitempty"`
	// Text is the sentence. Names of a trace stand in it as they are: a terminal or a page
	// must escape them.
	Text string `json:"text"`
	// Figures are the numbers in the sentence.
	Figures []Figure `json:"figures"`
	// Part is the analysis whose result shows more, by the name of its package: gc, alloc.
	// Of the whole trace it is "".
	Part string `json:"part,omitempty"`
}

// Of returns the findings in the results of all analyses, the worst first.
func Of(r *analysis.Result) []Finding {
	list := losses(r)
	add := func(pid int64, clr uint16, life int, found []Finding) {
		for _, f := range found {
			f.PID, f.CLRInstance, f.Life = pid, clr, life
			list = append(list, f)
		}
	}
	for _, x := range r.GC.Runtimes {
		add(x.PID, x.CLRInstance, x.Life, GC(x))
	}
	for _, x := range r.Alloc.Runtimes {
		add(x.PID, x.CLRInstance, x.Life, Alloc(x))
	}
	for _, x := range r.Exceptions.Runtimes {
		add(x.PID, x.CLRInstance, x.Life, Exceptions(x))
	}
	for _, x := range r.Contention.Runtimes {
		add(x.PID, x.CLRInstance, x.Life, Contention(x))
	}
	for _, x := range r.ThreadPool.Runtimes {
		add(x.PID, x.CLRInstance, x.Life, ThreadPool(x))
	}
	for _, x := range r.JIT.Runtimes {
		add(x.PID, x.CLRInstance, x.Life, JIT(x))
	}
	for _, x := range r.Requests.Processes {
		add(x.PID, 0, x.Life, Requests(x))
	}
	Sort(list)
	return list
}

// Sort puts the worst first.
func Sort(list []Finding) {
	order.Stable(list, func(a, b Finding) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
}

// A finder collects the findings of one part.
type finder struct {
	part string
	list []Finding
}

// add adds a finding. Those of the arguments that are figures are its figures.
func (f *finder) add(id string, s Severity, format string, args ...any) {
	figures := []Figure{}
	for _, arg := range args {
		if x, ok := arg.(Figure); ok {
			figures = append(figures, x)
		}
	}
	f.list = append(f.list, Finding{ID: id, Severity: s, Text: fmt.Sprintf(format, args...), Figures: figures, Part: f.part})
}

// atLeast returns a severity for a number that has reached a threshold, and another one
// for all others.
func atLeast(v, threshold float64, reached, otherwise Severity) Severity {
	if v >= threshold {
		return reached
	}
	return otherwise
}

// losses says how much of the trace was lost when it was recorded.
func losses(r *analysis.Result) []Finding {
	f := new(finder)
	if r.Lost > 0 {
		p := 100 * float64(r.Lost) / (float64(r.Lost) + float64(r.Records))
		bounds := "are lower bounds"
		if r.Undecodable > 0 {
			bounds = "may be off, since the trace seems damaged"
		}
		f.add("trace.lost", atLeast(p, muchLost, Problem, Look), "At least %s lost when the trace was recorded, %s of all: counts and sums "+bounds+".",
			things("lost", r.Lost, "event was", "events were"), share("lostPercent", p))
	}
	return f.list
}
