package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/cmd/etw/internal/ask"
	"github.com/etwgen/etwgen/cmd/etw/internal/assist"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/live"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/ship"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
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
		{groupLook, "info", look.NewInfo},
		{groupLook, "stat", look.NewStat},
		{groupLook, "dump", look.NewDump},
		{groupLook, "export", ship.NewExport},
		{groupLook, "filter", ship.NewFilter},
		{groupLook, "blocks", look.NewBlocks},
		{groupLive, "ps", live.NewPS},
		{groupLive, "collect", live.NewCollect},
		{groupLive, "watch", live.NewWatch},
		{groupETW, "sessions", windows.NewSessions},
		{groupETW, "record", windows.NewRecord},
		{groupETW, "providers", windows.NewProviders},
		{groupETW, "self-test", windows.NewSelfTest},
		{groupAsk, "gc", with(ask.NewGC, live.WithCollections)},
		{groupAsk, "allocs", with(ask.NewAllocs, live.WithRecording)},
		{groupAsk, "exceptions", with(ask.NewExceptions, live.WithRecording)},
		{groupAsk, "jit", with(ask.NewJIT, live.WithRecording)},
		{groupAsk, "contention", with(ask.NewContention, live.WithRecording)},
		{groupAsk, "waits", with(ask.NewWaits, live.WithRecording)},
		{groupAsk, "threadpool", with(ask.NewThreadPool, live.WithRecording)},
		{groupAsk, "heap", with(ask.NewHeap, live.WithSnapshot)},
		{groupAsk, "requests", with(ask.NewRequests, live.WithRecording)},
		{groupAsk, "counters", with(ask.NewCounters, live.WithReadings)},
		{groupAsk, "startup", with(ask.NewStartup, (*ask.Question).Command)},
		{groupAsk, "lifecycle", with(ask.NewLifecycle, (*ask.Question).Command)},
		{groupAsk, "timeline", ask.NewTimelineCommand},
		{groupAsk, "compare", ship.NewCompare},
		{groupAsk, "report", ask.NewReport},
		{groupCode, "top", with(code.NewTop, live.WithIntervals)},
		{groupCode, "classify", with(code.NewClassify, live.WithSamples)},
		{groupCode, "tree", with(code.NewTree, live.WithSamples)},
		{groupCode, "stacks", with(code.NewStacks, live.WithThreads)},
		{groupCode, "flame", with(code.NewFlame, live.WithSamples)},
		{groupCode, "lines", code.NewLines},
		{groupCode, "annotate", code.NewAnnotate},
		{groupCode, "convert", code.NewConvert},
		{groupCode, "symbols", code.NewSymbols},
		{groupBox, "processes", with(ask.NewProcesses, (*ask.Question).Command)},
		{groupBox, "threads", with(ask.NewThreads, (*ask.Question).Command)},
		{groupBox, "images", with(ask.NewImages, (*ask.Question).Command)},
		{groupBox, "files", with(ask.NewFiles, (*ask.Question).Command)},
		{groupBox, "disks", with(ask.NewDisks, (*ask.Question).Command)},
		{groupBox, "network", with(ask.NewNetwork, (*ask.Question).Command)},
		{groupKnow, "events", look.NewEvents},
		{groupKnow, "keywords", look.NewKeywords},
		{groupKnow, "record-help", windows.NewRecordHelp},
		{groupTool, "mcp", func() *cobra.Command { return assist.NewMCP(newRoot, runIn) }},
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
		cmd.RunE = pick.OverMappings(cmd.RunE)
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
			err = cli.Usagef("--%s is empty; leave it out, or give it a value", f.Name)
		}
	})
	return err
}
