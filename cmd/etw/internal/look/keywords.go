package look

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewKeywords returns the command that explains keywords.
func NewKeywords() *cobra.Command {
	k := new(keywordsCommand)
	cmd := &cobra.Command{
		Use:   "keywords [flags] [MASK | NAME]...",
		Short: "Explain a mask of keywords, or make one",
		Long: `Keywords prints a mask and which keywords are in it. It is made of masks and of names
of keywords, in any spelling that tools have for them. Without any it prints all
keywords of the provider.

With --for TOOL alone it says in five lines how to record with this tool, or with all.
With --for and keywords it prints what the tool takes to record them:

  dotnet-trace  the value of --providers
  env           the value of DOTNET_EventPipeConfig
  logman        the flags of logman start
  perfview      the flag of PerfView collect
  wpr           the element of a profile (.wprp)`,
		Example: `  etw keywords 0x1CCBD --provider clr
  etw keywords GC Loader Jit
  etw keywords --for all
  etw keywords --for wpr
  etw keywords --for dotnet-trace gc,exception
  etw keywords --for logman --level verbose gc
  etw keywords --for wpr --provider rundown Loader,Jit
  etw keywords --manifest MyProvider.man --provider MyProvider`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			list, _ := pick.CompleteKeywords(cmd, args, begun)
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: k.main,
	}
	cmd.Flags().StringVarP(&k.provider, "provider", "p", "clr", "of this `PROVIDER`: clr, rundown, private, stress, kernel, a name or a GUID")
	cmd.Flags().StringVar(&k.tool, "for", "", "print how to record with this `TOOL`, or what it takes: etw, "+strings.Join(recorderNames, ", ")+" or "+allRecipes)
	cmd.Flags().StringVar(&k.level, "level", "informational", "with --for, at this `LEVEL`: critical to verbose, or a number")
	pick.KnownFlag(cmd, &k.paths)
	k.out.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"provider": pick.CompleteProviders,
		"for":      cobra.FixedCompletions(append([]string{allRecipes}, recipeNames...), cobra.ShellCompDirectiveNoFileComp),
		"level":    cobra.FixedCompletions(pick.LevelNames, cobra.ShellCompDirectiveNoFileComp),
	})
	return cmd
}

// A keywordsCommand holds the flags of the command.
type keywordsCommand struct {
	provider, tool, level string
	paths                 []string
	out                   show.Output
}

func (k *keywordsCommand) main(cmd *cobra.Command, args []string) error {
	if err := k.out.Check(cmd); err != nil {
		return err
	}
	if k.tool != "" && len(args) == 0 && !cmd.Flags().Changed("provider") {
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
	mask := uint64(0)
	for _, keyword := range p.Keywords {
		mask |= keyword.Mask
	}
	if len(args) > 0 {
		if mask, err = pick.ParseKeywords(strings.Split(strings.Join(args, ","), ","), []*etw.Provider{p}); err != nil {
			return &cli.UsageError{Err: err}
		}
	}
	level, err := pick.ParseLevel(k.level)
	if err != nil {
		return cli.Usagef("--level: %w", err)
	}
	write := recorders[k.tool]
	if k.tool != "" && write == nil {
		return cli.Usagef("--for %s: keywords are for %s", k.tool, strings.Join(recorderNames, ", "))
	}
	out := k.out.Open(cmd, false)
	if write != nil {
		_, err := fmt.Fprintln(out, write(p.Desc, mask, level))
		return out.Close(err)
	}
	if out.Format == show.FormatText {
		fmt.Fprintf(out, "0x%x\n", mask)
	}
	return out.Close(explain(p, mask).Write(out))
}

// recorders write what the tools that record take to enable a provider.
var recorders = map[string]func(p *etw.ProviderDesc, mask uint64, level etw.Level) string{
	"dotnet-trace": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf("%s:0x%x:%d", p.Name, mask, level)
	},
	"env": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf("%s:%x:%d", p.Name, mask, level)
	},
	"logman": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf(`-p "{%s}" 0x%x %d`, p.GUID, mask, level)
	},
	"perfview": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf("/OnlyProviders:%s:0x%x:%s", p.Name, mask, level)
	},
	"wpr": func(p *etw.ProviderDesc, mask uint64, level etw.Level) string {
		return fmt.Sprintf(`<EventProvider Id="%s" Name="%s" Level="%d"><Keywords><Keyword Value="0x%x"/></Keywords></EventProvider>`,
			strings.ReplaceAll(p.Name, " ", "-"), p.GUID, level, mask)
	},
}

// recorderNames are the tools that take keywords.
var recorderNames = []string{"dotnet-trace", "env", "logman", "perfview", "wpr"}

// oneProvider returns the one provider that a name means.
func oneProvider(name string, manifests []*etw.Provider) (*etw.Provider, error) {
	list := pick.FindProviders(name, manifests)
	if len(list) == 1 {
		return list[0], nil
	}
	var names []string
	for _, p := range list {
		names = append(names, p.Desc.Name)
	}
	if len(list) > 1 {
		return nil, cli.Usagef("%q means several providers: %s", name, strings.Join(names, ", "))
	}
	return nil, unknownProvider(name, manifests)
}

// explain lists the keywords of p that have a bit in mask, and the bits that are
// of none.
func explain(p *etw.Provider, mask uint64) *show.Table {
	t := show.NewTable(show.Column{Name: "mask", Right: true}, show.Word("keyword"))
	t.Plain = true
	left := mask
	for _, k := range p.Keywords {
		if k.Mask&mask != 0 {
			t.Add("0x"+strconv.FormatUint(k.Mask, 16), k.Name)
			left &^= k.Mask
		}
	}
	for bit := uint64(1); bit != 0; bit <<= 1 {
		if left&bit != 0 {
			t.Add("0x"+strconv.FormatUint(bit, 16), "(not a keyword of "+p.Desc.Name+")")
		}
	}
	return t
}
