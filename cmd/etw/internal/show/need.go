package show

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/trace"
)

// ReportNeeds names the events that a trace lacks if it has none of the events that a
// command is about, and how to record them.
func ReportNeeds(cmd *cobra.Command, needs []need.Need, t *trace.Trace) {
	if cli.IsLive(cmd) {
		for _, n := range needs {
			cli.Report(cmd, fmt.Errorf("no events of %s came in that time", n.What))
		}
		return
	}
	for i := range needs {
		cli.Report(cmd, errors.New(OnSystem(needs[i].Lack(), t)))
	}
	if record := recording(needs, t); record != "" {
		cli.Report(cmd, fmt.Errorf("to record them: %s; with other tools: etw keywords --for all", record))
	}
}

// recording returns the command that records the missing events of a trace, or "": that of a
// tool of Windows if such a tool has made the trace.
func recording(needs []need.Need, t *trace.Trace) string {
	if IsWindows(t) {
		return need.Windows(needs)
	}
	if list := need.Providers(needs); list != "" {
		return "etw collect -p PID --providers '" + list + "'"
	}
	return ""
}

// OnSystem leaves out of how something is recorded the tools that the system of a trace lacks.
func OnSystem(text string, t *trace.Trace) string {
	if IsWindows(t) {
		return strings.ReplaceAll(text, need.OnLinux, "")
	}
	return text
}

// IsWindows reports whether Windows' own tools have made a trace.
func IsWindows(t *trace.Trace) bool {
	return t != nil && slices.ContainsFunc(t.Files(), func(f *trace.File) bool { return f.Head().Recorder == trace.Windows })
}

// WhyPart says of a trace without an answer that is a part of another one that this may have one. It
// returns "" of others.
func WhyPart(p *trace.Part) string {
	if p == nil {
		return ""
	}
	return "the trace is only a part of another, " + p.String() + ": whether that has an answer is not known"
}
