package html

import (
	"strings"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
)

// An advice names the events to record for an area that a trace has no events of.
type advice struct {
	Section  string `json:"section"`
	Title    string `json:"title"`
	Keywords string `json:"keywords"` // in words
	Command  string `json:"command"`
	needs    []need.Need
}

// named returns the advice with the command of Windows' own tools, or of dotnet-trace.
func (a advice) named(windows bool) advice {
	a.Command = "dotnet-trace collect -p PID --providers " + need.Providers(a.needs)
	if windows {
		a.Command = need.Windows(a.needs)
	}
	return a
}

// advise returns the advice for needs, of which more is to be said.
func advise(section, title string, needs []need.Need, more string) advice {
	var words []string
	for i := range needs {
		words = append(words, needs[i].Short())
	}
	return advice{Section: section, Title: title, Keywords: strings.Join(words, "; ") + more, needs: needs}
}

// advices are in the order of the page.
var advices = []advice{
	advise("gc", "Garbage collections", gc.Needs, ""),
	advise(profileID, "Call trees", cpu.Needs, ", or with ETW the kernel's samples (PROFILE)"),
	advise("alloc", "Allocations", alloc.Needs, "; or, from .NET 10 on, "+alloc.NeedsSampled[0].Short()),
	advise("exceptions", "Exceptions", exceptions.NeedsHandling, ""),
	advise("contention", "Lock contention", contention.Needs, ""),
	advise("waits", "Waits", waits.NeedsPool, ", from .NET 9 on"),
	advise("threadpool", "Thread pool", threadpool.Needs, "; level 5 and ThreadTransfer (0x80000000) for the times in its queue"),
	advise("jit", "Compilation", jit.Needs, ""),
	advise("requests", "Requests", requests.Needs, ""),
	advise("counters", "Counters", counters.Needs[:1], ""),
	advise("heap", "Heap snapshot", heap.Needs, "; this makes a collection"),
	advise("handles", "GC handles", handles.Needs, ""),
	advise("loader", "Assemblies", loader.Needs, ""),
}
