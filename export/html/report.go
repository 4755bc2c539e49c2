package html

import (
	"github.com/etwgen/etwgen/analysis"
)

// A Report is the data of the page of a trace.
type Report struct {
	// Title names the trace, as its file does.
	Title string
	// Head is a line below it: which machine, which system, how long.
	Head string
	// Facts are the trace's own facts, in the order in which they are shown.
	Facts []Fact
	// Warnings are the faults of the trace beyond the warnings of Result.
	Warnings []string
	// Processes has the facts about processes by their ids.
	Processes map[int64]Process
	// Profiles are call trees of processes, such as where they spent processor time.
	Profiles []Profile
	// Machine has the use of the machine by all processes, or is nil if the trace has no
	// such events. The page begins with it then.
	Machine *Machine
	// Windows says that Windows' own tools record such traces: missing events are then named
	// in their terms.
	Windows bool
	// Result has the answers of the analyses. Its Timeline, if it has one, is the begin of
	// the page.
	Result *analysis.Result
}

// A Fact is one thing that a trace says of itself.
type Fact struct{ Name, Text string }

// A Process is the facts about a process apart from its runtime.
type Process struct{ Name, CommandLine string }

// A Profile is a call tree of a process. Its title is the title of its area.
type Profile struct {
	PID  int64
	Life int // 0 for the first process with this id in the trace, 1 for the next
	// Several says that there are others with the id, of which the runtimes have lives of their
	// own, and Name which of them it is.
	Several bool
	Name    string
	*Flame
}
