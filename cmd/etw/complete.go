package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// completing reports whether this process is asked by a shell how to go on.
var completing = sync.OnceValue(func() bool {
	return len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cobra.ShellCompRequestCmd)
})

// completions says how the values of flags are completed. Cobra keeps every flag that it is
// told of, and by it the command, as long as the process lives: so it is told only if it is
// asked, and programs and tests that run thousands of commands keep none of them.
func completions(cmd *cobra.Command, funcs map[string]cobra.CompletionFunc) {
	if !completing() {
		return
	}
	for flag, do := range funcs {
		_ = cmd.RegisterFlagCompletionFunc(flag, do) // fails for flags that there are not
	}
}

// completeTraces completes names of files that may be traces.
func completeTraces(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return trace.Extensions(), cobra.ShellCompDirectiveFilterFileExt
}

// A glance is what the first events of the traces on a command line show.
type glance struct {
	events    []*etw.EventInfo
	processes map[int64]bool
	names     *names
}

// glanceAt looks into the traces among the arguments of a command. What is no
// trace is passed over.
func glanceAt(args []string) *glance {
	g := &glance{processes: make(map[int64]bool), names: newNames()}
	d := builtin.NewDecoder()
	for _, path := range args {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		t, err := trace.Open(path, trace.WithoutAttribution(), trace.WithFileOrder())
		if err != nil {
			continue
		}
		lookAhead(t, aheadEvents, func(r *etw.Record) {
			e := d.Event(r)
			if e.Index == len(g.events) {
				g.events = append(g.events, e)
			}
			g.processes[r.ProcessID] = true
			g.names.learn(d, r, e)
		})
		t.Close()
	}
	return g
}

// descs returns the descriptions of the events that were seen.
func (g *glance) descs() []*etw.EventDesc {
	var list []*etw.EventDesc
	for _, e := range g.events {
		if e.Desc != nil {
			list = append(list, e.Desc)
		}
	}
	return list
}

// sorted returns a list for a shell: sorted, without doubles, and of those that
// begin as what was typed.
func sorted(list []string, begun string) []string {
	list = slices.DeleteFunc(list, func(s string) bool {
		return len(s) < len(begun) || !strings.EqualFold(s[:len(begun)], begun)
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// completeProviders completes names of providers: those of the traces, or else
// the built-in ones.
func completeProviders(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, e := range glanceAt(args).events {
		list = append(list, e.Provider)
	}
	if len(list) == 0 {
		for _, b := range builtin.Providers {
			list = append(list, b.Alias+"\t"+b.Desc.Name, b.Desc.Name)
		}
		for _, s := range dotnet.Sources() {
			if list = append(list, s.Name); s.Package != "" {
				list = append(list, s.Package+"\t"+s.Name)
			}
		}
	}
	return sorted(list, begun), cobra.ShellCompDirectiveNoFileComp
}

// chosen returns the known providers that the flag --provider, which may be
// repeatable or not, or else the first argument names: the built-in ones without either.
func chosen(cmd *cobra.Command, args []string) []*etw.Provider {
	names, err := cmd.Flags().GetStringArray("provider")
	if err != nil {
		if name, err := cmd.Flags().GetString("provider"); err == nil && name != "" {
			names = []string{name}
		} else if len(args) > 0 {
			names = args[:1]
		}
	}
	if len(names) == 0 {
		return builtinProviders()
	}
	var list []*etw.Provider
	for _, name := range names {
		for _, p := range findProviders(name, nil) {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// completeEvents completes names of events: those of the traces, or else the
// built-in ones.
func completeEvents(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, e := range glanceAt(args).events {
		list = append(list, e.Name)
	}
	if len(list) == 0 {
		for _, b := range chosen(cmd, args) {
			for _, d := range b.Events {
				list = append(list, d.Title())
			}
		}
	}
	return sorted(list, begun), cobra.ShellCompDirectiveNoFileComp
}

// completeProcesses completes the processes of the traces.
func completeProcesses(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	g := glanceAt(args)
	var list []string
	for id := range maps.Keys(g.processes) {
		if id < 0 {
			continue
		}
		text := strconv.FormatInt(id, 10)
		if name := g.names.processes[id]; name != "" {
			text = fmt.Sprintf("%s\t%s", text, clean(name))
		}
		list = append(list, text)
	}
	return sorted(list, begun), cobra.ShellCompDirectiveNoFileComp
}

// fieldsOf returns the fields of the events of the traces, or of those that are
// known.
func fieldsOf(cmd *cobra.Command, args []string) []string {
	descs := glanceAt(args).descs()
	if len(descs) == 0 {
		for _, b := range chosen(cmd, nil) {
			descs = append(descs, b.Events...)
		}
	}
	return filter.FieldNames(descs)
}

// completeFields completes the name of a field that a condition begins with.
func completeFields(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return sorted(fieldsOf(cmd, args), begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeList completes a list with commas at its end.
func completeList(names func(*cobra.Command, []string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		var list []string
		for _, name := range names(cmd, args) {
			list = append(list, before+name)
		}
		return sorted(list, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// completeKeywords completes a list of names of keywords at its end.
func completeKeywords(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return completeList(func(cmd *cobra.Command, _ []string) []string {
		var list []string
		for _, b := range chosen(cmd, nil) {
			for _, k := range b.Keywords {
				list = append(list, strings.TrimSuffix(k.Name, keywordSuffix))
			}
		}
		return list
	})(cmd, args, begun)
}
