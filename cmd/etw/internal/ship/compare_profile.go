package ship

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/figures"
	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/trace"
)

// readProfile asks a profile of another tool: it has samples, and nothing else.
func (c *comparing) readProfile(cmd *cobra.Command, t *trace.Trace, path string, number int) (*comparedRun, error) {
	file, given := t.Files()[0], t.Profiles()[0]
	switch {
	case len(t.Files()) > 1:
		return nil, cli.Usagef("%s holds a profile and other files: they are compared one by one", path)
	case c.scope.Given():
		return nil, cli.Usagef("%s is a profile (%s): it has no events that could be chosen by process or time; --root chooses samples", file.Name(), file.Format())
	}
	c.out.About.Of(t, false)
	r := &comparedRun{path: path, warnings: given.Warnings, per: 1}
	for i := range given.Types {
		p, _ := profiles.New(given, i, profiles.Options{Names: stacks.QualifiedNames})
		if c.below != nil {
			p = p.Below(c.below)
		}
		r.figures = append(r.figures, figures.Weights(p, c.rules)...)
	}
	if given.Duration > 0 && c.below == nil {
		r.figures = append(r.figures, figures.Duration(time.Duration(given.Duration)))
	}
	var err error
	if r.per, err = c.unit.ofProfile(time.Duration(given.Duration), path, number); err != nil {
		return nil, err
	}
	r.figures = compare.Per(r.figures, r.per)
	show.ReportLosses(cmd, t)
	return r, nil
}

// ofProfile returns the number that sums of a profile are set against, which took so long, 0
// if that is unknown.
func (u *perUnit) ofProfile(took time.Duration, path string, number int) (float64, error) {
	switch {
	case u.given[number] > 0:
		return u.given[number], nil
	case u.text == perSeconds && took > 0:
		return took.Seconds(), nil
	case u.text == perSeconds:
		return 0, cli.Usagef("--per %s: %s does not tell how long it took; --per takes a number, too", u.text, path)
	case u.text != "":
		return 0, cli.Usagef("--per %s: %s is a profile, which has no events to count; --per takes a number, too", u.text, path)
	}
	return 1, nil
}
