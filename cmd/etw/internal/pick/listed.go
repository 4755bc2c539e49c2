package pick

import (
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// Listed lists names, or the first of many.
func Listed(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// NoActivity returns the error of a flag that names activities, of which there are none, beside
// those that are known.
func NoActivity(flag, name string, known []string) error {
	slices.Sort(known)
	known = slices.Compact(known)
	if slices.Contains(known, name) {
		return cli.Usagef("%s: no activity of %s ended, and where the time of one goes is told at its end: etw requests --by activity shows those that were not over, and etw top what threads did", flag, name)
	}
	return cli.Usagef("%s: no activity that ended has this name, id or endpoint%s; there are %s", flag, cli.DidYouMean(name, known), Listed(known))
}
