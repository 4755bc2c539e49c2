package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/decode"
	"github.com/etwgen/etwgen/internal/filter"
)

// completeProviders completes names of providers.
func completeProviders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, b := range decode.Builtins {
		list = append(list, b.Alias+"\t"+b.Desc.Name, b.Desc.Name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// chosen returns the built-in providers that the flag --provider, which may be
// repeatable or not, or else the first argument names: all without either.
func chosen(cmd *cobra.Command, args []string) []decode.Builtin {
	names, err := cmd.Flags().GetStringArray("provider")
	if err != nil {
		if name, err := cmd.Flags().GetString("provider"); err == nil && name != "" {
			names = []string{name}
		} else if len(args) > 0 {
			names = args[:1]
		}
	}
	if len(names) == 0 {
		return decode.Builtins
	}
	var list []decode.Builtin
	for _, b := range decode.Builtins {
		for _, name := range names {
			if p := filter.ParseProvider(name); p.Match(b.Desc.Name, b.Desc.GUID) {
				list = append(list, b)
				break
			}
		}
	}
	return list
}

// completeEvents completes names of events.
func completeEvents(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, b := range chosen(cmd, args) {
		for _, d := range b.Events {
			if strings.HasPrefix(d.Title(), begun) {
				list = append(list, d.Title())
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), cobra.ShellCompDirectiveNoFileComp
}

// completeKeywords completes a list of names of keywords at its end.
func completeKeywords(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	var list []string
	for _, b := range chosen(cmd, nil) {
		for _, k := range b.Keywords {
			if name := before + strings.TrimSuffix(k.Name, keywordSuffix); strings.HasPrefix(name, begun) {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
