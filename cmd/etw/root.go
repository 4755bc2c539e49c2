package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/internal/command"
)

// The groups of commands in help.
const (
	groupLook = "look"
	groupAsk  = "ask"
	groupLive = "live"
	groupETW  = "etw"
	groupBox  = "machine"
	groupCode = "code"
	groupKnow = "know"
	groupTool = "tool"
)

// A subcommand is made when it is needed.
type subcommand struct {
	group, name string
	build       func() *cobra.Command
}

// subcommands returns all of them, in the order of the help.
func subcommands() []subcommand {
	return []subcommand{
		{groupLook, "info", newInfo},
		{groupLook, "stat", newStat},
		{groupLook, "dump", newDump},
		{groupLook, "export", newExport},
		{groupLook, "filter", newFilter},
		{groupLook, "blocks", newBlocks},
		{groupLive, "ps", newPS},
		{groupLive, "collect", newCollect},
		{groupLive, "watch", newWatch},
		{groupETW, "sessions", newSessions},
		{groupETW, "record", newRecord},
		{groupETW, "providers", newProviders},
		{groupETW, "self-test", newSelfTest},
		{groupAsk, "gc", with(newGC, withCollections)},
		{groupAsk, "allocs", with(newAllocs, withRecording)},
		{groupAsk, "exceptions", with(newExceptions, withRecording)},
		{groupAsk, "jit", with(newJIT, withRecording)},
		{groupAsk, "contention", with(newContention, withRecording)},
		{groupAsk, "waits", with(newWaits, withRecording)},
		{groupAsk, "threadpool", with(newThreadPool, withRecording)},
		{groupAsk, "heap", with(newHeap, withSnapshot)},
		{groupAsk, "requests", with(newRequests, withRecording)},
		{groupAsk, "counters", with(newCounters, withReadings)},
		{groupAsk, "startup", with(newStartup, (*question).command)},
		{groupAsk, "lifecycle", with(newLifecycle, (*question).command)},
		{groupAsk, "timeline", newTimelineCommand},
		{groupAsk, "compare", newCompare},
		{groupAsk, "report", newReport},
		{groupCode, "top", with(newTop, withIntervals)},
		{groupCode, "classify", with(newClassify, withSamples)},
		{groupCode, "tree", with(newTree, withSamples)},
		{groupCode, "stacks", with(newStacks, withThreads)},
		{groupCode, "flame", with(newFlame, withSamples)},
		{groupCode, "lines", newLines},
		{groupCode, "annotate", newAnnotate},
		{groupCode, "convert", newConvert},
		{groupCode, "symbols", newSymbols},
		{groupBox, "processes", with(newProcesses, (*question).command)},
		{groupBox, "threads", with(newThreads, (*question).command)},
		{groupBox, "images", with(newImages, (*question).command)},
		{groupBox, "files", with(newFiles, (*question).command)},
		{groupBox, "disks", with(newDisks, (*question).command)},
		{groupBox, "network", with(newNetwork, (*question).command)},
		{groupKnow, "events", newEvents},
		{groupKnow, "keywords", newKeywords},
		{groupKnow, "record-help", newRecordHelp},
		{groupTool, "mcp", func() *cobra.Command { return newMCP(newRoot, runIn) }},
		{groupTool, "man", newMan},
	}
}

// with returns what makes a command from a part, by what makes the part.
func with[T any](build func() T, finish func(T) *cobra.Command) func() *cobra.Command {
	return func() *cobra.Command { return finish(build()) }
}

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command { return newRootWith("") }

// rootFor returns the command with what a command line needs: if that begins with the name
// of a subcommand which needs no others, it alone, for making all of them takes longer
// than most of them run.
func rootFor(args []string) *cobra.Command {
	if len(args) > 0 && args[0] != "man" {
		for _, c := range subcommands() {
			if c.name == args[0] {
				return newRootWith(c.name)
			}
		}
	}
	return newRoot()
}

// newRootWith returns the command with one of its subcommands, or with all.
func newRootWith(only string) *cobra.Command {
	root := &cobra.Command{
		Use:   "etw",
		Short: "Show what is in ETW and EventPipe traces",
		Long: `Etw shows what is in traces of events: .etl files of Windows, .nettrace and
.netperf files of .NET, on any system. What a file is, its first bytes say. Zip and
gzip files of traces open directly, and - is the standard input.

All commands that read events take the same filters, all that print results the same
formats. On a terminal long output goes through a pager.

Exit codes: 0 if all is well, 1 if a file is not (what could be read of it is shown
nevertheless), events were lost while it was recorded (info, whose answer that is, has
0 then) or the output cannot be written, 2 for a command line that makes no sense, such
as one with a name that neither the trace nor the tool knows, 3 if a condition of etw
compare --fail-if holds.`,
		Example: `  etw info gc.nettrace            what it is, and whether anything was lost
  etw stat gc.nettrace            which events it has, and how many
  etw dump gc.nettrace            every event with its fields
  etw events clr                  which events of the .NET runtime are known
  etw record-help                 how to record a trace`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return emptyFlags(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	command.SetVersion(root)
	command.ExplainFlags(root)
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "Look into traces:"},
		&cobra.Group{ID: groupLive, Title: "Watch and record live .NET programs:"},
		&cobra.Group{ID: groupETW, Title: "Record machines with Windows:"},
		&cobra.Group{ID: groupAsk, Title: "Ask traces of .NET programs:"},
		&cobra.Group{ID: groupCode, Title: "See which code it is:"},
		&cobra.Group{ID: groupBox, Title: "Ask traces of the machine:"},
		&cobra.Group{ID: groupKnow, Title: "Know events, and record them:"},
		&cobra.Group{ID: groupTool, Title: "The tool itself:"},
	)
	for _, c := range subcommands() {
		if only != "" && c.name != only {
			continue
		}
		cmd := c.build()
		cmd.GroupID = c.group
		cmd.RunE = overMappings(cmd.RunE)
		command.Add(root, cmd)
	}
	root.SetHelpCommandGroupID(groupTool)
	root.SetCompletionCommandGroupID(groupTool)
	return root
}

// emptyFlags reports flags that are given without a value.
func emptyFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		} else if f.Value.Type() != "string" {
			return
		}
		if err == nil && (len(values) == 0 || slices.Contains(values, "")) {
			err = usagef("--%s is empty; leave it out, or give it a value", f.Name)
		}
	})
	return err
}
