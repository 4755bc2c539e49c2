package gc

import "github.com/etwgen/etwgen/generated/clr"

// Condemned says why a collection was one of its generation.
type Condemned struct {
	// Heap is the index of the heap whose reasons these are, the first one that
	// asked for the generation; -1 stands for the reasons of all heaps together.
	Heap int64 `json:"heap"`
	// Initial, Final, Budget and Time are generations: the one that the collection
	// was to be of at first, that the heap asked for in the end, the oldest one
	// whose budget was used up, and the oldest one whose time it was.
	Initial Generation `json:"initial"`
	Final   Generation `json:"final"`
	Budget  Generation `json:"budget"`
	Time    Generation `json:"time"`
	// Conditions are the further reasons.
	Conditions []string `json:"conditions,omitempty"`
}

// aggressive is a condition that the map of names does not have.
const aggressive = 1 << 30

// condemned decodes the two words of reasons.
func condemned(heap int64, words0, words1 uint32) *Condemned {
	c := &Condemned{Heap: heap,
		Initial: Generation(words0 & 3), Final: Generation(words0 >> 2 & 3),
		Budget: Generation(words0 >> 4 & 3), Time: Generation(words0 >> 6 & 3)}
	for bit := uint32(1); bit != 0; bit <<= 1 {
		switch {
		case words1&bit == 0:
		case bit == aggressive:
			c.Conditions = append(c.Conditions, "JoinedAggressive")
		default:
			c.Conditions = append(c.Conditions, clr.GCCondemnConditions(bit).String())
		}
	}
	return c
}
