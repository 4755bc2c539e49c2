package html

import (
	"github.com/etwgen/etwgen/analysis"
)

// A Report is what the page of a trace is made of.
type Report struct {
	// Title names the trace, as its file does.
	Title string
	// Head is a line below it: which machine, which system, how long.
	Head string
	// Facts are what the trace says of itself, in the order in which they are shown.
	Facts []Fact
	// Warnings are what is wrong with the trace beyond the warnings of Result.
	Warnings []string
	// Processes has what is known of processes by their ids.
	Processes map[int64]Process
	// Profiles are call trees of processes, such as where they spent processor time.
	Profiles []Profile
	// Machine has what all processes of the machine used, or is nil if the trace has no such
	// events. It is what the page begins with then.
	Machine *Machine
	// Windows says that Windows' own tools record such traces: what is missing is then named
	// as they take it.
	Windows bool
	// Result has the answers of the analyses. Its Timeline, if it has one, is what the
	// page begins with.
	Result *analysis.Result
}

// A Fact is one thing that a trace says of itself.
type Fact struct{ Name, Text string }

// A Process is what is known of a process apart from its runtime.
type Process struct{ Name, CommandLine string }

// A Profile is a call tree of a process. Its What is the title of its area.
type Profile struct {
	PID  int64
	Life int // 0 for the first process with this id in the trace, 1 for the next
	*Flame
}
