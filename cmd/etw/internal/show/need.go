package show

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// ReportNeeds says what a trace lacks that has none of the events that a command
// is about, and how to record them.
func ReportNeeds(cmd *cobra.Command, needs []need.Need) {
	if cli.IsLive(cmd) {
		for _, n := range needs {
			cli.Report(cmd, fmt.Errorf("no events of %s came in that time", n.What))
		}
		return
	}
	lines, record := explainNeeds(needs)
	for _, line := range lines {
		cli.Report(cmd, errors.New(line))
	}
	if record != "" {
		cli.Report(cmd, fmt.Errorf("to record them: etw collect -p PID --providers '%s'; with other tools: etw keywords --for all", record))
	}
}

// explainNeeds says what events a trace lacks, and what to enable to record them, as
// dotnet-trace and etw collect take it, or "".
func explainNeeds(needs []need.Need) (lines []string, record string) {
	for _, n := range needs {
		lines = append(lines, n.Lack())
	}
	return lines, need.Providers(needs)
}
