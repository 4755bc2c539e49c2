package main

import (
	"slices"
)

// An evidence is what events of a trace make a question worth asking.
type evidence struct {
	provider string
	keywords uint64 // of which one is wanted, if there are any
	suggestion
}

// evidences are the questions in the order in which they are asked, with the events that
// answer them.
var evidences = []evidence{
	{clrName, 0x1, suggestion{"it has garbage collections: their pauses", "etw gc"}},
	{"Microsoft-DotNETCore-SampleProfiler", 0, suggestion{"it has samples of threads: where the time goes", "etw top"}},
	{"Windows Kernel/PerfInfo", 0, suggestion{"it has samples of processors: where the time goes", "etw top"}},
	{"Universal.Events", 0, suggestion{"it has samples of processors: where the time goes", "etw top"}},
	{clrName, 0x8000, suggestion{"it has exceptions", "etw exceptions"}},
	{clrName, 0x4000, suggestion{"it has contention for locks", "etw contention"}},
	{clrName, 0x40000000000, suggestion{"it has waits", "etw waits"}},
	{clrName, 0x10000, suggestion{"it has the thread pool: whether it starves", "etw threadpool"}},
	{clrName, 0x10, suggestion{"it has compilations", "etw jit"}},
	{clrName, 0x8, suggestion{"it has what is loaded: how the program starts", "etw startup"}},
	{clrName, 0x100000, suggestion{"it has a snapshot of the heap", "etw heap"}},
	{taskName, 0, suggestion{"it has activities: requests and their times", "etw requests"}},
	{"Microsoft.AspNetCore.Hosting", 0, suggestion{"it has requests and counters of the web server", "etw requests"}},
	{"System.Runtime", 0, suggestion{"it has counters", "etw counters"}},
	{"System.Diagnostics.Metrics", 0, suggestion{"it has metrics", "etw counters"}},
	{"Windows Kernel/Thread", 0, suggestion{"it has threads of the machine", "etw threads"}},
	{"Windows Kernel/Process", 0, suggestion{"it has processes", "etw processes"}},
	{"Universal.System", 0, suggestion{"it has processes", "etw processes"}},
	{"Windows Kernel/FileIO", 0, suggestion{"it has operations on files", "etw files"}},
	{"Windows Kernel/DiskIO", 0, suggestion{"it has operations of disks", "etw disks"}},
	{"Windows Kernel/TcpIp", 0, suggestion{"it has connections", "etw network"}},
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
	return p.Provider == e.provider && (e.keywords == 0 || p.mask&e.keywords != 0)
}
