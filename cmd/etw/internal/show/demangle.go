package show

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// A Demangler shows names of C++ and Rust as people know them. The time of the library for a
// name can grow with the fourth power of its length: so a name is only given to it where that
// is bounded, and all of them have a budget together. Others stay as they are.
type Demangler struct{ left int }

// The steps that names may take, of a quarter of a microsecond each.
const (
	stepsOfName  = 200_000
	stepsOfAll   = 40_000_000
	longestName  = 4096
	longestPlain = 13 // two to the power of it
)

// NewDemangler returns a Demangler with its whole budget.
func NewDemangler() *Demangler { return &Demangler{stepsOfAll} }

// Name returns the readable form of a name.
func (d *Demangler) Name(name string) string {
	if len(name) > longestName {
		return name
	}
	steps := demanglerSteps(name)
	if steps > stepsOfName || steps > d.left {
		return name
	}
	d.left -= steps
	return demangle.Filter(name, demangle.MaxLength(longestPlain))
}

// demanglerSteps returns how many steps the library takes for a name at most. A parameter pack
// is gone through for each of its elements wherever it is expanded (Dp), and it can have as
// many elements as the name has bytes. Pointers to pointers are gone through for each.
func demanglerSteps(name string) int {
	square := len(name) * len(name)
	return square/100 + strings.Count(name, "Dp")*square
}
