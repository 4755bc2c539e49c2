package look

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewKeywords returns the command that explains keywords.
func NewKeywords() *cobra.Command {
	k := new(keywordsCommand)
	cmd := &cobra.Command{
		Use:   "keywords [flags] [MASK | NAME]...",
		Short: "Explain a mask of keywords, or make one",
		Long: `Keywords prints a mask, which keywords are in it, and which code has names by it. It is
made of masks, of names of keywords, in any spelling that tools have for them, and of
presets. Without any it prints all keywords of the provider. Of a name that is both, the
keyword is meant; --preset takes presets alone:

` + presetHelp(clr.Provider) + `
  and of the provider rundown` + presetHelp(rundown.Provider) + `

With --for TOOL alone it says in some lines how to record with this tool, or with all.
With --for and keywords it prints the tool's settings to record them, a flag (xperf,
logman, perfview), a value (dotnet-trace --providers, env DOTNET_EventPipeConfig) or an
element of a profile (wpr). The level is the least at which each of the keywords causes
events, and methods have names. Of the kernel it is flags, by the names that the tool has
for them. A mask that causes or names nothing is warned of.`,
		Example: `  etw keywords 0x1CCBD --provider clr
  etw keywords GC Loader Jit
  etw keywords --for all
  etw keywords --for dotnet-trace gc,exception
  etw keywords --for xperf --preset documented
  etw keywords --for wpr --provider rundown Loader,Jit,End
  etw keywords --for logman --level verbose gc
  etw keywords --manifest MyProvider.man --provider MyProvider`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			list, _ := pick.CompleteKeywords(cmd, args, begun)
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: k.main,
	}
	cmd.Flags().StringVarP(&k.provider, "provider", "p", "clr", "of this `PROVIDER`: clr, rundown, private, stress, kernel, a name or a GUID")
	cmd.Flags().StringVar(&k.tool, "for", "", "print how to record with this `TOOL`, or its settings: etw,\n"+strings.Join(recorderNames, ", ")+" or "+allRecipes)
	cmd.Flags().StringVar(&k.level, "level", "", "with --for, at this `LEVEL`: critical to verbose, or a number; otherwise\nthe least that the keywords need")
	cmd.Flags().StringSliceVar(&k.presets, "preset", nil, "add the keywords of these `PRESETS`, and their level")
	pick.KnownFlag(cmd, &k.paths)
	k.out.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"provider": pick.CompleteProviders,
		"for":      cobra.FixedCompletions(append([]string{allRecipes}, recipeNames...), cobra.ShellCompDirectiveNoFileComp),
		"level":    cobra.FixedCompletions(pick.LevelNames, cobra.ShellCompDirectiveNoFileComp),
		"preset":   pick.CompleteList(completePresets),
	})
	return cmd
}

// A keywordsCommand holds the flags of the command.
type keywordsCommand struct {
	provider, tool, level string
	presets, paths        []string
	out                   show.Output
}

func (k *keywordsCommand) main(cmd *cobra.Command, args []string) error {
	if err := k.out.Check(cmd); err != nil {
		return err
	}
	if k.tool != "" && len(args)+len(k.presets) == 0 && !cmd.Flags().Changed("provider") {
		text, err := recipe(k.tool)
		if err != nil {
			return err
		}
		p := (&show.Output{Format: show.FormatText, Color: "never"}).Open(cmd, false)
		_, err = p.WriteString(text)
		return p.Close(err)
	}
	known, err := pick.ReadManifests(cmd, k.paths)
	if err != nil {
		return err
	}
	p, err := oneProvider(k.provider, known)
	if err != nil {
		return err
	}
	ask, err := k.asking(p, args)
	if err != nil {
		return err
	}
	lines, more, err := k.recipes(ask)
	if err != nil {
		return err
	}
	warnings := append(ask.warnings(), more...)
	k.out.About.Warn(warnings...)
	out := k.out.Open(cmd, false)
	if k.tool != "" {
		_, err = out.WriteString(lines)
	} else {
		if out.Format == show.FormatText {
			fmt.Fprintf(out, "0x%x\n", ask.listed)
		}
		err = explain(ask).Write(out)
	}
	err = out.Close(err)
	for _, text := range warnings {
		cli.Report(cmd, errors.New(text))
	}
	return err
}

// recipes returns the recipe for a tool, or each with its name before it, and warnings.
func (k *keywordsCommand) recipes(a *asking) (text string, warnings []string, err error) {
	switch {
	case k.tool == "":
		return "", nil, nil
	case k.tool != allRecipes:
		text, warnings, err = a.recorded(k.tool)
		return text + "\n", warnings, err
	}
	for _, tool := range recorderNames {
		one, more, err := a.recorded(tool)
		if err != nil {
			more = append(more, err.Error())
		} else {
			text += fmt.Sprintf("%-12s  %s\n", tool, one)
		}
		warnings = append(warnings, more...)
	}
	return text, warnings, nil
}

// recorded returns the recipe of a tool for an asking.
func (a *asking) recorded(tool string) (text string, warnings []string, err error) {
	write := recorders[tool]
	switch {
	case write == nil:
		return "", nil, cli.Usagef("--for %s: keywords are for %s", tool, strings.Join(recorderNames, ", "))
	case a.of == kernel.Provider:
		return kernelRecipe(tool, a.mask)
	}
	return write(a.of.Desc, a.mask, a.level), nil, nil
}

// asking returns the asking of a command line for a provider: all, if it names nothing.
func (k *keywordsCommand) asking(p *etw.Provider, args []string) (*asking, error) {
	ask := &asking{of: p}
	if len(args)+len(k.presets) == 0 {
		for _, keyword := range p.Keywords {
			ask.listed |= keyword.Mask
		}
		ask.mask = ask.listed &^ suppressing(p) // to list it is not to ask for it
	}
	if len(args) > 0 {
		if err := ask.add(strings.Split(strings.Join(args, ","), ",")); err != nil {
			return nil, &cli.UsageError{Err: err}
		}
	}
	if err := ask.addPresets(k.presets); err != nil {
		return nil, err
	}
	ask.listed |= ask.mask
	return ask, ask.setLevel(k.level)
}

// completePresets returns the presets of the provider.
func completePresets(cmd *cobra.Command, _ []string) []string {
	var names []string
	if name, err := cmd.Flags().GetString("provider"); err == nil {
		for _, p := range pick.FindProviders(name, nil) {
			names = append(names, presetNames(p)...)
		}
	}
	return names
}

// oneProvider returns the one provider that a name means.
func oneProvider(name string, manifests []*etw.Provider) (*etw.Provider, error) {
	list := pick.FindProviders(name, manifests)
	if len(list) == 1 {
		return list[0], nil
	}
	names := each.Of(list, func(p *etw.Provider) string { return p.Desc.Name })
	if len(list) > 1 {
		return nil, cli.Usagef("%q means several providers: %s", name, strings.Join(names, ", "))
	}
	return nil, unknownProvider(name, manifests)
}

// explain lists the keywords that have a bit in the mask, with the code that has names by
// them, and the bits that are of none.
func explain(a *asking) *show.Table {
	t := show.NewTable(show.Column{Name: "mask", Right: true}, show.Word("keyword"), show.Word("names"))
	t.Plain = true
	left, names := a.listed, a.names()
	for _, k := range a.of.Keywords {
		if k.Mask&a.listed != 0 {
			t.Add("0x"+strconv.FormatUint(k.Mask, 16), k.Name, names[k.Mask])
			left &^= k.Mask
		}
	}
	for bit := uint64(1); bit != 0; bit <<= 1 {
		if left&bit != 0 {
			t.Add("0x"+strconv.FormatUint(bit, 16), "(not a keyword of "+a.of.Desc.Name+")", "")
		}
	}
	return t
}
