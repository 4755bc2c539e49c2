package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The providers that analyses are of.
const (
	clrName  = "Microsoft-Windows-DotNETRuntime"
	taskName = "System.Threading.Tasks.TplEventSource"
)

// A need is what has to be recorded for an analysis.
type need struct {
	what     string // it is for
	provider string
	keywords uint64
	names    string // of the keywords
	level    etw.Level
	args     string // of the provider, as dotnet-trace takes them
	recorder string // what records it, if dotnet-trace collect does not
}

// spec returns the need as dotnet-trace takes it.
func (n *need) spec() string {
	text := fmt.Sprintf("%s:0x%x:%d", n.provider, n.keywords, n.level)
	if n.args != "" {
		text += ":" + n.args
	}
	return text
}

// reportNeeds says what a trace lacks that has none of the events that a command
// is about, and how to record them.
func reportNeeds(cmd *cobra.Command, needs []need) {
	if isLive(cmd) {
		for _, n := range needs {
			report(cmd, fmt.Errorf("no events of %s came in that time", n.what))
		}
		return
	}
	lines, record := explainNeeds(needs)
	for _, line := range lines {
		report(cmd, errors.New(line))
	}
	if record != "" {
		report(cmd, fmt.Errorf("to record them: etw collect -p PID --providers '%s'; with other tools: etw record-help", record))
	}
}

// explainNeeds says what events a trace lacks, and what to enable to record them, as
// dotnet-trace and etw collect take it, or "".
func explainNeeds(needs []need) (lines []string, record string) {
	var specs []string
	for _, n := range needs {
		if n.recorder != "" {
			lines = append(lines, fmt.Sprintf("the trace has no events of %s; to record them: %s", n.what, n.recorder))
			continue
		}
		keyword := "keyword"
		if n.keywords&(n.keywords-1) != 0 {
			keyword = "keywords"
		}
		line := fmt.Sprintf("the trace has no events of %s, which are those of %s with the %s %s (0x%x) at level %d (%s)",
			n.what, n.provider, keyword, n.names, n.keywords, n.level, strings.ToLower(n.level.String()))
		if n.keywords == 0 {
			line = fmt.Sprintf("the trace has no events of %s, which are those of %s at level %d (%s)", n.what, n.provider, n.level, strings.ToLower(n.level.String()))
		}
		if n.args != "" {
			line += ", with the argument " + n.args
		}
		lines = append(lines, line)
		specs = append(specs, n.spec())
	}
	return lines, strings.Join(specs, ",")
}

// What has to be recorded for each analysis.
var (
	allocNeeds      = []need{{what: "allocations", provider: clrName, keywords: 0x1, names: "GC", level: etw.LevelVerbose}}
	contentionNeeds = []need{{what: "contention", provider: clrName, keywords: 0x4000, names: "Contention", level: etw.LevelInformational}}
	exceptionNeeds  = []need{{what: "exceptions", provider: clrName, keywords: 0x8000, names: "Exception", level: etw.LevelInformational}}
	gcNeeds         = []need{{what: "garbage collections", provider: clrName, keywords: 0x1, names: "GC", level: etw.LevelInformational}}
	jitNeeds        = []need{{what: "compiling", provider: clrName, keywords: 0x10, names: "Jit", level: etw.LevelVerbose}}
	poolNeeds       = []need{{what: "the thread pool", provider: clrName, keywords: 0x10000, names: "Threading", level: etw.LevelInformational}}
	waitNeeds       = []need{{what: "waits (from .NET 9 on)", provider: clrName, keywords: 0x40000010000, names: "WaitHandle and Threading", level: etw.LevelVerbose}}
	requestNeeds    = []need{
		{what: "activities", provider: taskName, keywords: 0x80, names: "TasksFlowActivityIds", level: etw.LevelInformational},
		{what: "requests that ASP.NET Core serves", provider: "Microsoft.AspNetCore.Hosting", level: etw.LevelInformational},
		{what: "requests that HttpClient makes", provider: "System.Net.Http", level: etw.LevelInformational},
	}
	counterNeeds = []need{
		{what: "counters", provider: "System.Runtime", level: etw.LevelInformational, args: "EventCounterIntervalSec=1"},
		{what: "metrics", provider: "System.Diagnostics.Metrics", keywords: 0x2, names: "TimeSeriesValues", level: etw.LevelInformational,
			args: "SessionId=1;Metrics=System.Runtime;RefreshInterval=1;MaxTimeSeries=1000;MaxHistograms=20"},
	}
	sampleNeeds = []need{{what: "thread samples", provider: "Microsoft-DotNETCore-SampleProfiler", level: etw.LevelInformational}}
)
