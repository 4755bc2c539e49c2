package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/runtime/etw"
)

// keywordSuffix ends the names of most keywords, and may be left out.
const keywordSuffix = "Keyword"

// newKeywords returns the command that explains keywords.
func newKeywords() *cobra.Command {
	var provider string
	var paths []string
	cmd := &cobra.Command{
		Use:   "keywords [flags] [MASK | NAME]...",
		Short: "Explain a mask of keywords, or make one",
		Long: `Keywords prints a mask and which keywords are in it. It is made of masks and of names
of keywords, which may lack the ending Keyword. Without any it prints all keywords
of the provider.`,
		Example: `  etw keywords 0x1CCBD --provider clr
  etw keywords GC Loader Jit
  etw keywords --manifest MyProvider.man --provider MyProvider`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			list, _ := completeKeywords(cmd, args, begun)
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			known, err := readManifests(cmd, paths)
			if err != nil {
				return err
			}
			p, err := oneProvider(provider, known.providers)
			if err != nil {
				return err
			}
			mask := uint64(0)
			for _, k := range p.Keywords {
				mask |= k.Mask
			}
			if len(args) > 0 {
				if mask, err = parseKeywords(args, []*etw.Provider{p}); err != nil {
					return &usageError{err}
				}
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			fmt.Fprintf(out, "0x%x\n", mask)
			if err := explain(p, mask).write(out); err != nil {
				return err
			}
			return out.Flush()
		},
	}
	cmd.Flags().StringVarP(&provider, "provider", "p", "clr", "of this `provider`: clr, rundown, private, stress, a name or a GUID")
	knownFlag(cmd, &paths)
	_ = cmd.RegisterFlagCompletionFunc("provider", completeProviders)
	return cmd
}

// oneProvider returns the one provider that a name means.
func oneProvider(name string, manifests []*etw.Provider) (*etw.Provider, error) {
	list := findProviders(name, manifests)
	if len(list) == 1 {
		return list[0], nil
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Desc.Name)
	}
	if len(list) > 1 {
		return nil, usagef("%q means several providers: %s", name, strings.Join(names, ", "))
	}
	return nil, unknownProvider(name, manifests)
}

// explain lists the keywords of p that have a bit in mask, and the bits that are
// of none.
func explain(p *etw.Provider, mask uint64) *table {
	t := newTable(">", "")
	t.rows = nil // it needs no headings
	left := mask
	for _, k := range p.Keywords {
		if k.Mask&mask != 0 {
			t.add("  0x"+strconv.FormatUint(k.Mask, 16), k.Name)
			left &^= k.Mask
		}
	}
	for bit := uint64(1); bit != 0; bit <<= 1 {
		if left&bit != 0 {
			t.add("  0x"+strconv.FormatUint(bit, 16), "(not a keyword of "+p.Desc.Name+")")
		}
	}
	return t
}

// parseKeywords returns the mask of a list of masks and names of keywords.
func parseKeywords(list []string, providers []*etw.Provider) (uint64, error) {
	var mask uint64
	for _, text := range list {
		text = strings.TrimSpace(text)
		if m, err := strconv.ParseUint(text, 0, 64); err == nil {
			mask |= m
			continue
		}
		m := keywordMask(text, providers)
		if m == 0 {
			return 0, fmt.Errorf("%q is neither a mask such as 0x8000 nor a keyword%s", text, ofProvider(providers))
		}
		mask |= m
	}
	return mask, nil
}

// keywordMask returns the mask of a keyword that one of the providers has, or 0.
func keywordMask(name string, providers []*etw.Provider) uint64 {
	name = strings.ToLower(name)
	for _, p := range providers {
		for _, k := range p.Keywords {
			if full := strings.ToLower(k.Name); name == full || name == strings.TrimSuffix(full, strings.ToLower(keywordSuffix)) {
				return k.Mask
			}
		}
	}
	return 0
}

func ofProvider(providers []*etw.Provider) string {
	if len(providers) != 1 {
		return ""
	}
	return " of " + providers[0].Desc.Name
}
