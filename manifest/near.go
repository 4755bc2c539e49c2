package manifest

import (
	"iter"
	"strings"

	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/edit"
	"github.com/etwgen/etwgen/runtime/etw"
)

// maxGuesses is how many names are looked at for remedies. It bounds the time
// spent on a file full of errors.
const maxGuesses = 20_000

// nearest returns the one of the names that s was probably meant to be, "" if
// there is none.
func (p *parser) nearest(s string, names ...iter.Seq[string]) string {
	if p.guesses > maxGuesses || len(s) > quoteLimit {
		return ""
	}
	space, local := splitName(s)
	best, bestCost := "", 2*(len(local)/3+1)
	for _, list := range names {
		for name := range list {
			p.guesses++
			if len(name) > quoteLimit {
				continue
			}
			nameSpace, nameLocal := splitName(name)
			// A mistake in the name weighs more than a prefix that is forgotten.
			cost := 2 * difference(local, nameLocal)
			if space != nameSpace {
				cost++
			}
			if cost < bestCost || cost == bestCost && best != "" && name < best {
				best, bestCost = name, cost
			}
		}
	}
	return best
}

// splitName returns a name in lower case, its prefix apart.
func splitName(s string) (space, local string) {
	s = strings.ToLower(s)
	if space, local, ok := strings.Cut(s, ":"); ok {
		return space, local
	}
	return "", s
}

// difference returns how many mistakes make a out of b. Leaving off the end is
// one, and so is adding a suffix.
func difference(a, b string) int {
	d := edit.Distance(a, b)
	if d > 1 && (a != "" && strings.HasPrefix(b, a) || b != "" && strings.HasPrefix(a, b+"_")) {
		return 1
	}
	return d
}

// didYouMean returns a remedy. Only the names that Windows defines can do without
// quotes.
func didYouMean(name string) string {
	if space, _, _ := strings.Cut(name, ":"); space == "win" || space == "xs" {
		return "did you mean " + name + "?"
	}
	return "did you mean " + quote(name) + "?"
}

// outNames lists the ways to render a type.
func outNames(t etw.InType) string {
	return strings.Join(each.Of(outTypes[t], etw.OutType.String), ", ")
}

// looseOutType finds the way to render that a name was meant for, whatever its
// case and its prefix.
func looseOutType(name string) etw.OutType {
	_, local, _ := strings.Cut(name, ":")
	for o := etw.OutString; o.String() != ""; o++ {
		if _, l, _ := strings.Cut(o.String(), ":"); strings.EqualFold(l, local) {
			return o
		}
	}
	return etw.OutDefault
}
