package ask

import (
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewProcesses returns the command that shows processes and threads.
func NewProcesses() *Question {
	return &Question{
		name:  "processes",
		short: "Show processes as a tree, with the processor time that they used",
		Long: `Processes shows the processes in a trace, each below the one that started it: name,
command line, start, end, exit code, processor time, threads and images. A process
whose number was used again is another one. Start and end are those that the trace
has seen; a process without was there before the recording, or outlived it.

Processor time is told in two ways, where the trace has these events: sampledMs are
the samples that hit the process, times the interval between two; ranMs is the time
between context switches, which is exact. A recorder of Linux tells of switches to
threads, and only the scheduler's own sched_switch how long they ran.

Traces of .NET programs tell of their one process. The rows are processes, or by --by:
threads, the services of Windows with their states and processes, or the states of
power: sleep, modern standby, mains and battery, shutdowns.

--images shows the programs and libraries that were loaded in each process, where they
lay and when, and their identities and symbols. Those of the kernel, which
all processes share, are those of process 0. The rows are then images in processes, or
files by --by file.`,
		example: `  etw processes machine.etl
  etw processes gc.nettrace
  etw processes --by thread --sort ranMs --top 10 machine.etl
  etw processes --process app.exe --format csv machine.etl
  etw processes --by service machine.etl
  etw processes --images machine.etl
  etw processes --images --by file --top 10 machine.etl
  etw processes --format json machine.etl | jq '.threads[].ranMs'`,
		next:   []show.Suggestion{show.Next("etw threads", "the time of their threads"), show.Next("etw top", "on which code the time went")},
		views:  viewsOf(new(system.Result)),
		Needs:  []need.Need{need.Processes},
		whole:  true,
		clips:  true,
		ask:    func(mux *etw.Mux) answer { return newProcessesAnswer(mux) },
		others: []*Question{images()},
	}
}

type processesAnswer struct {
	machineAnswer[*system.Result]
	usage *system.Usage
}

func newProcessesAnswer(mux *etw.Mux) *processesAnswer {
	a := &processesAnswer{usage: system.NewUsage(mux)}
	a.machine = newMachine(mux)
	a.any = func(res *system.Result) bool { return len(res.Processes) > 0 || len(res.Machine.Power) > 0 }
	a.facts = func(p *page, res *system.Result) { processTotals(p, res, len(a.asked.Processes) == 0) }
	a.find = func() *system.Result {
		a.usage.Settle()
		res := a.usage.Result()
		res.Processes = order.Delete(res.Processes, func(p system.ProcessFacts) bool { return !a.asked.Program(p.PID, p.Name) })
		res.Machine.Services = order.Delete(res.Machine.Services, func(s system.Service) bool { return !a.asked.Processes.Has(int64(s.PID)) })
		res.Threads = order.Delete(res.Threads, func(t system.ThreadFacts) bool { return !a.asked.Program(int64(t.PID), t.Process) })
		return res
	}
	return a
}

func (a *processesAnswer) samplesEach(ns int64) { a.usage.SetInterval(ns) }

func processTotals(p *page, res *system.Result, all bool) {
	machineFacts(p, &res.Machine)
	if res.Samples > 0 {
		p.line("samples", "%d, one each %s", res.Samples, show.MSOf(res.SampleMS))
	}
	if res.Switches > 0 {
		p.line("switches", "%d", res.Switches)
	}
	if res.KernelImages > 0 && all {
		p.line("kernel images", "%d, which are of no process", res.KernelImages)
	}
	if n := len(res.Machine.Power); n > 0 {
		p.line("power", "%s, which --by power lists", show.Count(n, "state or change", "states and changes"))
	}
}

// unknown is the name for unknown ones.
const unknown = "(unknown)"
