package code

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/trace"
)

// given returns the samples of a profile that another tool wrote.
func (o *Profiling) given(cmd *cobra.Command, t *trace.Trace, trouble error) (p *Profiled, err error) {
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	file, list := t.Files()[0], t.Profiles()
	switch {
	case len(t.Files()) > 1:
		i := slices.IndexFunc(t.Files(), func(f *trace.File) bool { return f.Profile() != nil })
		file = t.Files()[i]
		return nil, cli.Usagef("%s is a profile (%s), which is not read together with others; --diff compares two", file.Name(), file.Format())
	case o.scope.Given():
		return nil, cli.Usagef("%s is a profile (%s): it has no events that could be chosen by process or time; --tid, --label, --root and --include choose samples", file.Name(), file.Format())
	}
	of := ""
	if cmd.Flags().Changed("of") {
		of = o.Of
	}
	given := list[0]
	value, err := profiles.Find(given, of)
	if err != nil {
		return nil, cli.Usagef("--of %s: %s: %w", of, file.Name(), err)
	}
	options := o.Options()
	p = &Profiled{T: t, Names: pick.NewNames(), Table: frames.NewCodeMap(nil).Code.Table(), trouble: trouble, warnings: given.Warnings, given: true}
	var names *profiles.Names
	p.Profile, names = profiles.New(given, value, profiles.Options{Names: options.Names, Raw: options.Raw, Lines: o.sourced != nil})
	maps.Copy(p.Names.Processes, names.Processes)
	maps.Copy(p.Names.Threads, names.Threads)
	if given.PeriodType.Unit == "nanoseconds" && lastType(p.Profile).Unit == "nanoseconds" {
		p.Period = given.Period
	}
	p.Facts = []string{factOf(file, value)}
	if p.Len() == 0 {
		p.none = fmt.Sprintf("the profile has no samples of %s", given.Types[value].Name)
	}
	return p, nil
}

// lastType is the measure of samples.
func lastType(p *stacks.Profile) stacks.ValueType { return p.Types[len(p.Types)-1] }

// factOf names the measure of a profile, and its others.
func factOf(f *trace.File, value int) string {
	p := f.Profile()
	text := fmt.Sprintf("a profile of %s: %s", f.Format(), show.Count(len(p.Samples), "sample", "samples"))
	if p.Period > 0 {
		switch p.PeriodType.Unit {
		case "nanoseconds":
			text += fmt.Sprintf(", %s apart", show.MS(float64(p.Period)/1e6))
		case "bytes":
			text += fmt.Sprintf(", each for %s", show.Size(float64(p.Period)))
		}
	}
	var others []string
	for i, t := range p.Types {
		if i != value {
			others = append(others, cmp.Or(t.Name, "?"))
		}
	}
	if len(others) > 0 {
		text += "; --of shows " + pick.Listed(others)
	}
	return text
}
