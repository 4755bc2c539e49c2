package pick

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/dotnet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// CompleteTraces completes names of files that may be traces.
func CompleteTraces(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return trace.Extensions(), cobra.ShellCompDirectiveFilterFileExt
}

// A glance is the result of the first events of the traces on a command line.
type glance struct {
	events    []*etw.EventInfo
	processes map[int64]bool
	names     *Names
}

// glanceAt looks into the traces among the arguments of a command. Other arguments are
// passed over.
func glanceAt(args []string) *glance {
	g := &glance{processes: make(map[int64]bool), names: NewNames()}
	d := builtin.NewDecoder()
	for _, path := range args {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		t, err := trace.Open(path, trace.WithoutAttribution(), trace.WithFileOrder())
		if err != nil {
			continue
		}
		LookAhead(t, AheadEvents, func(r *etw.Record) {
			e := d.Event(r)
			if e.Index == len(g.events) {
				g.events = append(g.events, e)
			}
			g.processes[r.ProcessID] = true
			g.names.Learn(d, r, e)
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

// sorted returns a list for a shell: sorted, without doubles, and of those that begin as the
// typed word.
func sorted(list []string, begun string) []string {
	list = order.Delete(list, func(s string) bool {
		return len(s) < len(begun) || !strings.EqualFold(s[:len(begun)], begun)
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// CompleteProviders completes names of providers: those of the traces, or else
// the built-in ones.
func CompleteProviders(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	list := each.Of(glanceAt(args).events, func(e *etw.EventInfo) string { return e.Provider })
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
		return BuiltinProviders()
	}
	var list []*etw.Provider
	for _, name := range names {
		for _, p := range FindProviders(name, nil) {
			if !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// CompleteEvents completes names of events: those of the traces, or else the
// built-in ones.
func CompleteEvents(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	list := each.Of(glanceAt(args).events, func(e *etw.EventInfo) string { return e.Name })
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
		if name := g.names.Processes[id]; name != "" {
			text = fmt.Sprintf("%s\t%s", text, cli.Clean(name))
		}
		list = append(list, text)
	}
	return sorted(list, begun), cobra.ShellCompDirectiveNoFileComp
}

// FieldsOf returns the fields of the events of the traces, or of those that are
// known.
func FieldsOf(cmd *cobra.Command, args []string) []string {
	descs := glanceAt(args).descs()
	if len(descs) == 0 {
		for _, b := range chosen(cmd, nil) {
			descs = append(descs, b.Events...)
		}
	}
	return filter.FieldNames(descs)
}

// CompleteFields completes the name of a field that a condition begins with.
func CompleteFields(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return sorted(FieldsOf(cmd, args), begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// CompleteList completes a list with commas at its end.
//
//go:noinline
func CompleteList(names func(*cobra.Command, []string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		list := each.Of(names(cmd, args), func(name string) string { return before + name })
		return sorted(list, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// CompleteKeywords completes a list of names of keywords at its end.
func CompleteKeywords(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return CompleteList(func(cmd *cobra.Command, _ []string) []string {
		var list []string
		for _, b := range chosen(cmd, nil) {
			for _, k := range b.Keywords {
				list = append(list, strings.TrimSuffix(k.Name, KeywordSuffix))
			}
		}
		return list
	})(cmd, args, begun)
}
