package look

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// An evidence is the events of a trace that make a question worth asking.
type evidence struct {
	need.Need // one of its keywords is wanted, if there are any, and of its events
	show.Suggestion
}

// evidences are the questions in the order in which they are asked, with the events that
// answer them.
var evidences = []evidence{
	{gc.Needs[0], show.Suggestion{Why: "it has garbage collections: their pauses", Command: "etw gc"}},
	{cpu.Needs[0], show.Suggestion{Why: "it has samples of threads: where the time goes", Command: "etw top"}},
	{need.Need{Provider: "Windows Kernel/PerfInfo"}, show.Suggestion{Why: "it has samples of processors: where the time goes", Command: "etw top"}},
	{need.Need{Provider: "Universal.Events"}, show.Suggestion{Why: "it has samples of processors: where the time goes", Command: "etw top"}},
	{exceptions.Needs[0], show.Suggestion{Why: "it has exceptions", Command: "etw exceptions"}},
	{contention.Needs[0], show.Suggestion{Why: "it has contention for locks", Command: "etw waits --locks"}},
	{waits.Needs[0], show.Suggestion{Why: "it has waits", Command: "etw waits"}},
	{threadpool.Needs[0], show.Suggestion{Why: "it has the thread pool: whether it starves", Command: "etw threadpool"}},
	{jit.Needs[0], show.Suggestion{Why: "it has compilations", Command: "etw jit"}},
	{need.Need{Provider: need.CLR, Keywords: 0x8}, show.Suggestion{Why: "it has the loads: how the program starts", Command: "etw startup"}},
	{heap.Needs[0], show.Suggestion{Why: "it has a snapshot of the heap", Command: "etw heap"}},
	{need.Need{Provider: requests.Needs[0].Provider}, show.Suggestion{Why: "it has activities: requests and their times", Command: "etw requests"}},
	{need.Need{Provider: "Microsoft.AspNetCore.Hosting"}, show.Suggestion{Why: "it has requests and counters of the web server", Command: "etw requests"}},
	{need.Need{Provider: "System.Runtime"}, show.Suggestion{Why: "it has counters", Command: "etw counters"}},
	{need.Need{Provider: "System.Diagnostics.Metrics"}, show.Suggestion{Why: "it has metrics", Command: "etw counters"}},
	{need.Need{Provider: "Windows Kernel/Thread"}, show.Suggestion{Why: "it has threads of the machine", Command: "etw threads"}},
	{need.Need{Provider: "Windows Kernel/Process"}, show.Suggestion{Why: "it has processes", Command: "etw processes"}},
	{need.Need{Provider: "Universal.System"}, show.Suggestion{Why: "it has processes", Command: "etw processes"}},
	{need.Need{Provider: "Windows Kernel/FileIO"}, show.Suggestion{Why: "it has operations on files", Command: "etw files"}},
	{need.Need{Provider: "Windows Kernel/DiskIO"}, show.Suggestion{Why: "it has operations of disks", Command: "etw files --disks"}},
	{need.Need{Provider: "Windows Kernel/TcpIp"}, show.Suggestion{Why: "it has connections", Command: "etw network"}},
}

// orient suggests questions to a trace that has events of some providers.
func orient(a *show.About, providers []*providerCount, file string) {
	for _, e := range evidences {
		if slices.ContainsFunc(providers, e.isMet) {
			a.Suggest(e.Command+" "+show.ShellWord(file), e.Why)
		}
	}
}

// isMet reports whether events of a provider are an evidence.
func (e *evidence) isMet(p *providerCount) bool {
	return p.Provider == e.Provider && (e.Keywords == 0 || p.mask&e.Keywords != 0) &&
		(e.Events == [2]uint16{} || p.ids[e.Events[0]] || e.Events[1] != 0 && p.ids[e.Events[1]])
}
