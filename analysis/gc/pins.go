package gc

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
)

// summarizePins counts the pinned objects of a collection, and gives up the list
// of them. The runtime reports an object once for each time that it is pinned.
func (c *collection) summarizePins() {
	if len(c.pins) == 0 && len(c.plugs) == 0 {
		return
	}
	order.Sort(c.pins, func(a, b pin) int { return cmp.Compare(a.object, b.object) })
	pins := slices.CompactFunc(c.pins, func(a, b pin) bool { return a.object == b.object })
	p := &Pinned{Objects: len(pins)}
	for _, pin := range pins {
		p.Bytes = measure.Plus(p.Bytes, pin.size)
	}
	for _, g := range c.plugs {
		size := sub(g.end, g.start)
		p.PlugBytes = measure.Plus(p.PlugBytes, size)
		i, _ := slices.BinarySearchFunc(pins, g.start, func(p pin, at uint64) int { return cmp.Compare(p.object, at) })
		if i < len(pins) && pins[i].object < g.end {
			p.UserPlugBytes = measure.Plus(p.UserPlugBytes, size)
		}
	}
	c.pinned, c.pins, c.plugs = p, nil, nil
}
