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
	"github.com/etwgen/etwgen/cmd/etw/internal/view"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/internal/command"
)

// The groups of commands in help.
const (
	groupLook   = "Look into a trace"
	groupAsk    = "Ask the trace of a .NET program"
	groupCode   = "See which code it is"
	groupBox    = "Ask the trace of a machine"
	groupRecord = "Record, and watch as it happens"
	groupKnow   = "Know events and keywords, keep lakes, connect assistants"
)

// A subcommand is made when it is needed. Help has the line of it, if it has one.
type subcommand struct {
	group, name, line string
	build             func() *cobra.Command
}

// subcommands returns all of them, in the order of the help.
func subcommands() []subcommand {
	return []subcommand{
		{groupLook, "info", "kind, losses, processes", look.NewInfo},
		{groupLook, "view", "explore it in the browser", func() *cobra.Command { return live.WithPage(view.NewView(newRoot, runIn)) }},
		{groupLook, "stat", "events counted, summed up", look.NewStat},
		{groupLook, "dump", "events with their fields", look.NewDump},
		{groupLook, "filter", "some of it as a new trace", ship.NewFilter},
		{groupLook, "export", "files for other tools", ship.NewExport},

		{groupAsk, "gc", "collections and pauses", with(ask.NewGC, live.WithCollections)},
		{groupAsk, "allocs", "allocations, by type", with(ask.NewAllocs, live.WithRecording)},
		{groupAsk, "heap", "objects, and their roots", with(ask.NewHeap, live.WithSnapshot)},
		{groupAsk, "exceptions", "exceptions thrown", with(ask.NewExceptions, live.WithRecording)},
		{groupAsk, "jit", "methods compiled", with(ask.NewJIT, live.WithRecording)},
		{groupAsk, "waits", "for locks, events, tasks", with(ask.NewWaits, live.WithRecording)},
		{groupAsk, "threadpool", "workers, starvation", with(ask.NewThreadPool, live.WithRecording)},
		{groupAsk, "requests", "requests and activities", with(ask.NewRequests, live.WithRecording)},
		{groupAsk, "counters", "counters and metrics", with(ask.NewCounters, live.WithReadings)},
		{groupAsk, "startup", "loading, phases of starts", with(ask.NewStartup, (*ask.Question).Command)},
		{groupAsk, "report", "findings, or a page", ask.NewReport},
		{groupAsk, "timeline", "events over time", ask.NewTimelineCommand},
		{groupAsk, "compare", "before and after", ship.NewCompare},

		{groupCode, "top", "methods, lines, stacks", with(code.NewTop, live.WithIntervals)},
		{groupCode, "tree", "the call tree", with(code.NewTree, live.WithSamples)},
		{groupCode, "flame", "a flame graph", with(code.NewFlame, live.WithSamples)},
		{groupCode, "symbols", "which code has names", code.NewSymbols},

		{groupBox, "processes", "processes and images", with(ask.NewProcesses, (*ask.Question).Command)},
		{groupBox, "threads", "running, ready, waiting", with(ask.NewThreads, (*ask.Question).Command)},
		{groupBox, "files", "files and disks", with(ask.NewFiles, (*ask.Question).Command)},
		{groupBox, "network", "connections", with(ask.NewNetwork, (*ask.Question).Command)},

		{groupRecord, "ps", "live .NET processes", live.NewPS},
		{groupRecord, "collect", "record .NET, or a Linux", live.NewCollect},
		{groupRecord, "record", "record a Windows", windows.NewRecord},
		{groupRecord, "watch", "events as they come", live.NewWatch},
		{groupRecord, "sessions", "sessions of Windows", windows.NewSessions},

		{groupKnow, "events", "events that are known", with(look.NewEvents, windows.WithRegistered)},
		{groupKnow, "keywords", "masks; how to record", look.NewKeywords},
		{groupKnow, "lake", "keep lakes of export", ship.NewLake},
		{groupKnow, "mcp", "a server for assistants", func() *cobra.Command { return assist.NewMCP(newRoot, runIn) }},
		{"", "man", "", newMan},
	}
}

// asked reports whether an assistant can ask the command: whether it answers about a trace, and
// makes no file.
func (c *subcommand) asked() bool {
	switch c.group {
	case groupAsk, groupBox:
		return true
	case groupCode:
		return c.name != "flame"
	}
	return c.name == "stat" || c.name == "dump" || c.name == "events"
}

// with returns the maker of a command from the maker of a part.
func with[T any](build func() T, finish func(T) *cobra.Command) func() *cobra.Command {
	return func() *cobra.Command { return finish(build()) }
}

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command { return newRootWith("") }

// rootFor returns the root command with the commands that a command line needs: if that
// begins with the name of a subcommand which needs no others, it alone, for making all of
// them takes longer than most of them run. Its own version needs none.
func rootFor(args []string) *cobra.Command {
	if len(args) == 1 && args[0] == "--version" {
		return newRootWith(args[0])
	}
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
		Short: "Show the contents of ETW and EventPipe traces",
		Long: `Etw shows the contents of traces: .etl files of Windows, .nettrace and
.netperf files of .NET, on any system. The first bytes tell the format of a file. Zip and
gzip files of traces open directly, and - is the standard input.

All commands that read events take the same filters, all that print results the same
formats. On a terminal long output goes through a pager.

Exit codes: 0 if all is well, 1 if a file is not (the readable part is shown
nevertheless), events were lost while it was recorded (info, whose answer that is, has
0 then) or the output cannot be written, 2 for a command line that makes no sense, such
as one with a name that neither the trace nor the tool knows, 3 if a condition of etw
compare --fail-if holds, 5 if a trace has none of the events that an answer is of.`,
		Example: `  etw info gc.nettrace            its kind, and whether anything was lost
  etw stat gc.nettrace            which events it has, and how many
  etw dump gc.nettrace            every event with its fields
  etw events clr                  which events of the .NET runtime are known
  etw keywords --for all          how to record a trace`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.NoArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return emptyFlags(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	setHelp(root)
	command.SetVersion(root)
	command.ExplainFlags(root)
	for _, c := range subcommands() {
		if only != "" && c.name != only {
			continue
		}
		cmd := c.build()
		cmd.GroupID, cmd.Hidden = c.group, c.line == ""
		if c.asked() {
			cmd.Annotations = map[string]string{cli.Asked: ""}
		}
		if c.group != "" && !root.ContainsGroup(c.group) {
			root.AddGroup(&cobra.Group{ID: c.group, Title: c.group + ":"})
		}
		cmd.RunE = pick.OverMappings(cmd.RunE)
		command.Add(root, cmd)
	}
	if !root.ContainsGroup(groupKnow) {
		root.AddGroup(&cobra.Group{ID: groupKnow, Title: groupKnow + ":"})
	}
	root.SetHelpCommandGroupID(groupKnow)
	root.SetCompletionCommandGroupID(groupKnow)
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
