package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/internal/each"
)

// A flagSet is flags that several commands have: help lists their names, and `etw help NAME`
// explains each.
type flagSet struct {
	name, about string
	of          string // a command that has them all, and explains those that are of it alone
	flags       []string
	long        func() string // more to say, if there is
}

// flagSets are all of them.
var flagSets = []flagSet{
	{"filters", "which events, processes and times", "dump",
		[]string{"provider", "event", "id", "process", "children", "tid", "level", "keywords", "where", "from", "to", "activity", "during", "zone"}, nil},
	{"frames", "which samples, and how frames are named and grouped", "top",
		[]string{"names", "raw-names", "as-sampled", "tiers", "include", "exclude", "group", "fold", "fold-percent", "root", "label", "kind", "rules", "threads", "symbols", "symbol-path", "no-symbols"}, func() string { return code.PatternsLong }},
	{"lakes", "contents of a lake of Parquet files", "export", []string{"host", "resource", "from-path", "tables", "types", "continue", "memory"}, nil},
	{"live", "a live process instead of files", "top", []string{"attach", "name", "port", "duration", "buffer-mb"}, nil},
	{"recording", "events to record", "collect", []string{"profile", "providers", "rundown", "no-stacks", "block"},
		func() string { return "The profiles are:\n\n" + strings.TrimSuffix(windows.ProfileHelp(), "\n") }},
	{"events", "how events are printed", "dump", []string{"columns", "enums", "fields", "payload", "raw-stacks", "stacks", "time"}, nil},
	{"output", "how results are printed", "top", []string{"format", "json", "csv-raw", "color", "no-pager", "wide", "sort", "reverse", "rows", "top"}, nil},
	{"input", "how files are read", "dump", []string{"manifest", "no-attribute", "unpack-limit"}, nil},
}

// setOf returns the set that a flag is in, or nil. Of some commands flags of these names
// have another meaning, and the flags of event formats and of recording are explained in
// full where they are the subject of the command.
func setOf(cmd *cobra.Command, flag string) *flagSet {
	if slices.Contains([]string{"events", "keywords", "record"}, cmd.Name()) {
		return nil
	}
	i := slices.IndexFunc(flagSets, func(s flagSet) bool { return slices.Contains(s.flags, flag) })
	if i < 0 || flagSets[i].of == cmd.Name() && slices.Contains([]string{"recording", "events"}, flagSets[i].name) {
		return nil
	}
	return &flagSets[i]
}

// setHelp has root and its commands print help that fits a screen.
func setHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd == root {
			rootHelp(cmd.OutOrStdout())
			return
		}
		commandHelp(cmd.OutOrStdout(), cmd)
	})
}

// rootHelp prints the table of commands, in two columns.
func rootHelp(w io.Writer) {
	fmt.Fprintln(w, `Etw shows traces: .etl files of Windows, .nettrace and .netperf files
of .NET, zipped or not, on any system. - is the standard input.
Usage: etw COMMAND [flags] TRACE..., to begin with: etw info TRACE`)
	var group []subcommand
	flush := func() {
		if len(group) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s\n", group[0].group)
		half := (len(group) + 1) / 2
		for i := range half {
			text := fmt.Sprintf("  %-11s %-25s", group[i].name, group[i].line)
			if i+half < len(group) {
				text += fmt.Sprintf("  %-11s %s", group[i+half].name, group[i+half].line)
			}
			fmt.Fprintln(w, strings.TrimRight(text, " "))
		}
		group = nil
	}
	for _, c := range subcommands() {
		if len(group) > 0 && group[0].group != c.group {
			flush()
		}
		if c.line != "" {
			group = append(group, c)
		}
	}
	flush()
	sets := each.Of(flagSets, func(s flagSet) string { return s.name })
	fmt.Fprintf(w, `
etw help COMMAND explains one; flags that many have:
etw help %s.
Exit codes: 0 all is well, 1 a file is damaged or lost events, 2 bad usage,
3 --fail-if holds, 4 --stop-when waited in vain, 5 there are no such events.
`, strings.Join(sets, "|"))
}

// commandHelp prints the help of a command: flags that others have, too, by their names.
func commandHelp(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", cmd.Long, cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	shared := make(map[string][]string)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if s := setOf(cmd, f.Name); s != nil && !f.Hidden {
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + "," + name
			}
			shared[s.name] = append(shared[s.name], name)
		} else {
			own.AddFlag(f)
		}
	})
	fmt.Fprintf(w, "\nFlags:\n%s", own.FlagUsages())
	for _, s := range flagSets {
		if list := shared[s.name]; len(list) > 0 {
			fmt.Fprintf(w, "%s\n", wrapped("  "+s.name+" (etw help "+s.name+"): ", list))
		}
	}
}

// wrapped puts words behind a begin, in lines of up to 88 characters.
func wrapped(begin string, words []string) string {
	text, line := "", begin
	for _, word := range words {
		if len(line)+len(word) > 88 {
			text += strings.TrimRight(line, " ") + "\n"
			line = "      "
		}
		line += word + " "
	}
	return text + strings.TrimRight(line, " ")
}

// sharedHelp explains the flags of a set.
func sharedHelp(w io.Writer, s *flagSet) error {
	cmd, _, err := newRoot().Find([]string{s.of})
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range s.flags {
		if f := cmd.Flags().Lookup(name); f != nil {
			flags.AddFlag(f)
		}
	}
	_, err = fmt.Fprintf(w, "Flags that say %s, of all commands that have them:\n\n%s", s.about, flags.FlagUsages())
	if s.long != nil && err == nil {
		_, err = fmt.Fprintf(w, "\n%s\n", s.long())
	}
	return err
}

// newMan returns the command that makes manual pages.
func newMan() *cobra.Command {
	cmd := command.NewMan(cli.Usagef, cli.DidYouMean)
	cmd.Long = `Man prints the manual page of etw or of one of its commands, in the form that man
reads, or writes all of them into a folder.`
	cmd.Example = `  etw man dump > etw-dump.1
  etw man --dir man1`
	return cmd
}
