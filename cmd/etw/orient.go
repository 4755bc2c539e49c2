package main

import (
	"slices"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
)

// An evidence is what events of a trace make a question worth asking.
type evidence struct {
	need.Need // one of its keywords is wanted, if there are any
	suggestion
}

// evidences are the questions in the order in which they are asked, with the events that
// answer them.
var evidences = []evidence{
	{gc.Needs[0], suggestion{"it has garbage collections: their pauses", "etw gc"}},
	{cpu.Needs[0], suggestion{"it has samples of threads: where the time goes", "etw top"}},
	{need.Need{Provider: "Windows Kernel/PerfInfo"}, suggestion{"it has samples of processors: where the time goes", "etw top"}},
	{need.Need{Provider: "Universal.Events"}, suggestion{"it has samples of processors: where the time goes", "etw top"}},
	{exceptions.Needs[0], suggestion{"it has exceptions", "etw exceptions"}},
	{contention.Needs[0], suggestion{"it has contention for locks", "etw contention"}},
	{waits.Needs[0], suggestion{"it has waits", "etw waits"}},
	{threadpool.Needs[0], suggestion{"it has the thread pool: whether it starves", "etw threadpool"}},
	{jit.Needs[0], suggestion{"it has compilations", "etw jit"}},
	{need.Need{Provider: need.CLR, Keywords: 0x8}, suggestion{"it has what is loaded: how the program starts", "etw startup"}},
	{need.Need{Provider: need.CLR, Keywords: 0x100000}, suggestion{"it has a snapshot of the heap", "etw heap"}},
	{need.Need{Provider: requests.Needs[0].Provider}, suggestion{"it has activities: requests and their times", "etw requests"}},
	{need.Need{Provider: "Microsoft.AspNetCore.Hosting"}, suggestion{"it has requests and counters of the web server", "etw requests"}},
	{need.Need{Provider: "System.Runtime"}, suggestion{"it has counters", "etw counters"}},
	{need.Need{Provider: "System.Diagnostics.Metrics"}, suggestion{"it has metrics", "etw counters"}},
	{need.Need{Provider: "Windows Kernel/Thread"}, suggestion{"it has threads of the machine", "etw threads"}},
	{need.Need{Provider: "Windows Kernel/Process"}, suggestion{"it has processes", "etw processes"}},
	{need.Need{Provider: "Universal.System"}, suggestion{"it has processes", "etw processes"}},
	{need.Need{Provider: "Windows Kernel/FileIO"}, suggestion{"it has operations on files", "etw files"}},
	{need.Need{Provider: "Windows Kernel/DiskIO"}, suggestion{"it has operations of disks", "etw disks"}},
	{need.Need{Provider: "Windows Kernel/TcpIp"}, suggestion{"it has connections", "etw network"}},
}

// orient suggests what a trace can be asked that has events of some providers.
func orient(a *about, providers []*providerCount, file string) {
	for _, e := range evidences {
		if slices.ContainsFunc(providers, e.isMet) {
			a.suggest(e.Command+" "+shellWord(file), e.Why)
		}
	}
}

// isMet reports whether events of a provider are an evidence.
func (e *evidence) isMet(p *providerCount) bool {
	return p.Provider == e.Provider && (e.Keywords == 0 || p.mask&e.Keywords != 0)
}
