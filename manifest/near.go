package manifest

import (
	"slices"
	"strings"
)

// maxGuesses bounds the time that goes into remedies for a file full of errors.
const maxGuesses = 100

// nearest returns the one of the names that s was probably meant to be, "" if
// there is none.
func nearest[V any](p *parser, s string, names map[string]V) string {
	if p.guesses++; p.guesses > maxGuesses || len(s) > quoteLimit {
		return ""
	}
	s = strings.ToLower(s)
	best, bestDistance := "", len(s)/3+1
	for name := range names {
		d := 1
		if lower := strings.ToLower(name); s == "" || !strings.HasPrefix(lower, s) {
			d = distance(s, lower)
		}
		if d < bestDistance || d == bestDistance && best != "" && name < best {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance returns how many bytes must be changed, added or removed to make a
// into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}

// outNames lists the ways to render a type.
func outNames(t InType) string {
	var names []string
	for _, o := range t.info().outs {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}

// looseOutType finds the way to render that a name was meant for, whatever its
// case and its prefix.
func looseOutType(name string) OutType {
	_, local, _ := strings.Cut(name, ":")
	i := slices.IndexFunc(outTypes[:], func(s string) bool {
		_, l, ok := strings.Cut(s, ":")
		return ok && strings.EqualFold(l, local)
	})
	return OutType(max(i, 0))
}
