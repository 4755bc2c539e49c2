package code

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/each"
)

// The kindFlags choose samples by the kind of work that they are.
type kindFlags struct {
	kinds []string
	files []string
	rules *work.Rules // once the flags were checked
}

func (k *kindFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&k.kinds, "kind", nil, "only samples of this `KIND` of work, such as gc or user; repeatable")
	f.StringArrayVar(&k.files, "rules", nil, "a `FILE` with rules for kinds of work, which are asked before those of etw\ntop --show-rules; repeatable")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"kind": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kindNames(work.Default()), cobra.ShellCompDirectiveNoFileComp
	}})
}

// check reads the rules, and reports kinds that there are not.
func (k *kindFlags) check() error {
	var err error
	if k.rules, err = readRules(k.files); err != nil {
		return err
	}
	known := kindNames(k.rules)
	for _, name := range k.kinds {
		if !slices.Contains(known, name) {
			return cli.Usagef("--kind %s: there is no such kind of work%s; there are %s", name, cli.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	return nil
}

// only leaves the samples of the kinds that were asked for.
func (k *kindFlags) only(p *stacks.Profile) *stacks.Profile {
	c := k.rules.Classify(p)
	return p.Only(func(s stacks.Sample) bool { return slices.Contains(k.kinds, c.Of(s).Name) })
}

func kindNames(r *work.Rules) []string {
	names := each.Of(r.Kinds(), func(k work.Kind) string { return k.Name })
	slices.Sort(names)
	return names
}

// readRules returns the rules of files before those that are built in. Those of the first
// file are asked first.
func readRules(files []string) (*work.Rules, error) {
	r := work.Default()
	for _, name := range slices.Backward(files) {
		info, err := os.Stat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", name) // one to wait for, or without an end
		}
		if err != nil {
			return nil, cli.Usagef("--rules: %w", err)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.Usagef("--rules: %w", err)
		}
		next, err := r.Add(f)
		f.Close()
		if err != nil {
			return nil, cli.Usagef("--rules: %s: %w", name, err)
		}
		r = next
	}
	return r, nil
}

// noteKinds says which rules of one's own are of nothing, and how much is unknown since
// nothing tells of native code.
func (o *Profiling) noteKinds(p *Profiled) {
	if p.Len() == 0 {
		return
	}
	c := o.work.rules.Classify(p.Profile)
	if len(o.work.kinds) == 0 {
		for _, rule := range c.Unmatched() {
			p.warnings = append(p.warnings, fmt.Sprintf("the rule %s matches no frame", rule))
		}
	}
	sum, all := outside(p.Profile, func(s stacks.Sample) bool { return c.Unseen(s) && c.Of(s).Name == work.Unknown }), lastOf(p.Totals())
	if sum > 0 && all > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("%.1f %% are in native code that managed code called: EventPipe does not tell its work, or whether it waited", 100*float64(sum)/float64(all)))
	}
}
