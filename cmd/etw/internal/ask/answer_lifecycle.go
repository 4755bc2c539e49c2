package ask

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/lifecycle"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewLifecycle returns the command that shows how far processes came.
func NewLifecycle() *Question {
	return &Question{
		name:  "lifecycle",
		short: "Show how far processes came, and when: start, runtime, main, first request, exit",
		Long: `Lifecycle shows the phases of the processes in a trace, each process below the one that
started it: when it started, when a runtime of .NET was loaded and began, when the first
managed code was compiled or looked up, when the entry point of the program was, when the
first request that it serves began, and when it ended. A phase that nothing in the trace
tells of is left out, and so are processes without any that started none with some: the kernel tells of processes and images, the runtime of its start,
with the keyword Jit (0x10) of methods, and with CompilationDiagnostic (0x2000000000) of
those that were compiled ahead of time, EventSources of requests.

The rows are processes, or by --by phase the phases with what told of them.`,
		example: `  etw lifecycle jit.nettrace
  etw lifecycle --by phase machine.etl
  etw lifecycle --process app.exe --format csv machine.etl
  etw lifecycle --format json jit.nettrace | jq '.processes[] | {pid, phases}'`,
		views:   viewsOf(new(lifecycle.Result)),
		missing: "the trace tells of no process; how to record one that does, etw record-help wpr says",
		whole:   true,
		ask: func(mux *etw.Mux) answer {
			a := lifecycle.New(mux)
			return aboutMachine(mux, func(chosen filter.Numbers) *lifecycle.Result {
				res := a.Result()
				res.Processes = slices.DeleteFunc(res.Processes, func(p lifecycle.Process) bool { return !chosen.Has(p.PID) })
				return res
			}, lifecycleTotals)
		},
	}
}

func lifecycleTotals(p *page, res *lifecycle.Result) {
	all := 0
	for i := range res.Processes {
		all += min(len(res.Processes[i].Phases), 1)
	}
	p.title(show.Count(len(res.Processes), "process", "processes") + ", phases are known of " + show.Whole(all))
}
