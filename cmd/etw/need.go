package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
)

// isLive reports whether a command is about a live process.
func isLive(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"attach", "name", "port"}, cmd.Flags().Changed)
}

// reportNeeds says what a trace lacks that has none of the events that a command
// is about, and how to record them.
func reportNeeds(cmd *cobra.Command, needs []need.Need) {
	if isLive(cmd) {
		for _, n := range needs {
			report(cmd, fmt.Errorf("no events of %s came in that time", n.What))
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
func explainNeeds(needs []need.Need) (lines []string, record string) {
	for _, n := range needs {
		lines = append(lines, n.Lack())
	}
	return lines, need.Providers(needs)
}
