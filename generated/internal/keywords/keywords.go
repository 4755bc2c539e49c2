// Package keywords reads the names of keywords, in all the spellings that people
// know from different tools.
package keywords

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An Alias is a further name of a keyword, or of several at once.
type Alias[K ~uint64] struct {
	Name string
	Mask K
}

// Parse returns the mask of a list of names and numbers, which +, |, commas or
// spaces separate. A name is one of the provider's keywords or an alias, with or
// without the word Keyword before or after it, in upper or lower case.
func Parse[K ~uint64](p *etw.Provider, aliases []Alias[K], list string) (K, error) {
	names := strings.FieldsFunc(list, func(c rune) bool { return strings.ContainsRune("+|, \t", c) })
	if len(names) == 0 {
		return 0, fmt.Errorf("%q names no keyword of %s", list, p.Desc.Name)
	}
	var mask K
	for _, name := range names {
		m, ok := lookup(p, aliases, name)
		if !ok {
			return 0, fmt.Errorf("%q is neither a keyword of %s nor a mask such as 0x8000%s", name, p.Desc.Name, suggestion(p, aliases, name))
		}
		mask |= K(m)
	}
	return mask, nil
}

func lookup[K ~uint64](p *etw.Provider, aliases []Alias[K], name string) (mask uint64, ok bool) {
	if m, err := strconv.ParseUint(name, 0, 64); err == nil {
		return m, true
	}
	name = plain(name)
	for _, k := range p.Keywords {
		if plain(k.Name) == name {
			return k.Mask, true
		}
	}
	for _, a := range aliases {
		if plain(a.Name) == name {
			return uint64(a.Mask), true
		}
	}
	return 0, false
}

// plain returns the common part of the spellings of a name: GCKeyword, KeywordGC and gc are
// one name.
func plain(name string) string {
	name = strings.ToLower(name)
	name = strings.TrimSuffix(name, "keyword")
	return strings.TrimPrefix(name, "keyword")
}

// suggestion returns a question for the name that comes next, or nothing if none
// comes near.
func suggestion[K ~uint64](p *etw.Provider, aliases []Alias[K], name string) string {
	best, least := "", 3
	try := func(other string) {
		if d := distance(plain(name), plain(other)); d < least {
			best, least = strings.TrimSuffix(other, "Keyword"), d
		}
	}
	for _, k := range p.Keywords {
		try(k.Name)
	}
	for _, a := range aliases {
		try(a.Name)
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance returns how many letters must be inserted, removed or replaced to get
// from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
