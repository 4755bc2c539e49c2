package activities

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A part is an activity within another one.
type part struct {
	from, to  int64
	name      string
	named     bool   // name is no task
	of, above uint32 // its number, and that of the one that it is below
}

// A kin is the activities within one, by their numbers.
type kin []part

func (k kin) sort() { order.Sort(k, func(a, b part) int { return cmp.Compare(a.of, b.of) }) }

// find returns the one with a number, or nil.
func (k kin) find(of uint32) *part {
	i, ok := slices.BinarySearchFunc(k, of, func(p part, of uint32) int { return cmp.Compare(p.of, of) })
	if !ok {
		return nil
	}
	return &k[i]
}

// nameOf names an activity by the first that has a name of those that it is in.
func (k kin) nameOf(of uint32) (name string) {
	for c := k.find(of); c != nil; c = k.find(c.above) {
		if c.named {
			return c.name
		}
		name = cmp.Or(name, c.name)
	}
	return name
}

// isIn reports whether an activity is another one, or within it.
func (k kin) isIn(of, other uint32) bool {
	for of != other {
		c := k.find(of)
		if c == nil {
			return false
		}
		of = c.above
	}
	return true
}
