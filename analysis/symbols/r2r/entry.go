package r2r

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/order"
)

// A span is a piece of code of a method.
type span struct {
	start, end uint32
	source     source
	cold       bool
}

// A source says where the name of a method is: in a row of its assembly, or in an entry
// of the table of instances, whose types have arguments.
type source struct {
	component int32 // whose row it is, or ofImage, or isInstance
	at        uint32
}

const (
	ofImage    = -1
	isInstance = -2
)

// maxMethods bounds the methods of an image. The largest have 200 thousand.
const maxMethods = 1 << 22

// A collector finds the methods of an image.
type collector struct {
	image *Image
	found []entry
	left  int // how many rows may be looked at yet
}

// An entry is a method and its first function.
type entry struct {
	function uint32
	source   source
}

// collect finds all methods.
func (c *collector) collect(all sections) error {
	x := c.image
	if err := x.readComponents(all); err != nil {
		return err
	}
	if err := c.rows(all[methodEntryPoints], ofImage); err != nil {
		return err
	}
	for i := range x.components {
		if err := c.rows(x.components[i].rows, int32(i)); err != nil {
			return fmt.Errorf("%w (component %d)", err, i)
		}
	}
	b, err := x.part(all, instanceEntryPoints)
	if err != nil {
		return err
	}
	x.instances = b
	budget := 2 * len(b) // signatures do not share their bytes
	if !entries(b, func(at uint32) bool { return c.instance(at, &budget) }) {
		return errors.New("r2r: the table of instances is damaged")
	}
	if budget < 0 || len(c.found) > int(x.functions.n) {
		return errors.New("r2r: the table of instances has more methods than there is code")
	}
	return nil
}

// rows finds the methods that rows of an assembly have.
func (c *collector) rows(d ecma335.Directory, component int32) error {
	b, err := c.image.part(sections{methodEntryPoints: d}, methodEntryPoints)
	if err != nil || len(b) == 0 {
		return err
	}
	a, ok := readArray(b)
	if c.left -= int(min(a.count, maxMethods+1)); !ok || c.left < 0 {
		return fmt.Errorf("r2r: the table of methods is damaged: it has %d rows in %d bytes", a.count, len(b))
	}
	for i := range a.count {
		if at, ok := a.at(i); ok {
			c.add(b, at, source{component, i + 1})
		}
	}
	if len(c.found) > int(c.image.functions.n) {
		return fmt.Errorf("r2r: the table of methods has more than the %d functions of the image", c.image.functions.n)
	}
	return nil
}

// instance finds the method of an entry of the table of instances.
func (c *collector) instance(at uint32, budget *int) bool {
	b := c.image.instances
	if uint64(at) >= uint64(len(b)) {
		return true // of nothing
	}
	r := signature{Cursor: ecma335.NewCursor(b[at:])}
	r.method()
	*budget -= len(b[at:]) - r.Left()
	if !r.Failed() {
		c.add(b, uint32(len(b)-r.Left()), source{isInstance, at})
	} else {
		*budget -= failedCost
	}
	return *budget >= 0 && len(c.found) <= int(c.image.functions.n)
}

// failedCost is the price of reading a signature in vain, in bytes.
const failedCost = 64

// add adds the method whose function a value names.
func (c *collector) add(b []byte, at uint32, s source) {
	v, _, ok := number(b, at)
	function := v >> 1
	if v&1 != 0 { // something to do before its first call follows
		function = v >> 2
	}
	if ok && function < c.image.functions.n {
		c.found = append(c.found, entry{function, s})
	}
}

// spans returns the pieces of code by address. The map has pairs of functions: where a
// cold part begins, and the one that it is a part of. It ends where the next one begins.
func (c *collector) spans(coldMap []byte) []span {
	f := &c.image.functions
	order.Stable(c.found, func(a, b entry) int { return cmp.Compare(a.function, b.function) })
	c.found = slices.CompactFunc(c.found, func(a, b entry) bool { return a.function == b.function })
	hot := f.n
	pairs := len(coldMap) / 8
	if pairs > 0 {
		hot = min(hot, binary.LittleEndian.Uint32(coldMap))
	}
	all := make([]span, 0, len(c.found)+min(pairs, int(f.n)))
	add := func(first, behind uint32, s source, cold bool) {
		if first >= behind || behind > f.n {
			return
		}
		if start, end := f.begin(first), f.end(behind-1); start < end {
			all = append(all, span{start, end, s, cold})
		}
	}
	for i, e := range c.found {
		behind := f.n
		if i+1 < len(c.found) {
			behind = c.found[i+1].function
		}
		if e.function < hot {
			behind = min(behind, hot)
		}
		add(e.function, behind, e.source, false)
	}
	for i := range min(pairs, int(f.n)) {
		behind := f.n
		if i+1 < pairs {
			behind = binary.LittleEndian.Uint32(coldMap[8*i+8:])
		}
		of := binary.LittleEndian.Uint32(coldMap[8*i+4:])
		k, found := slices.BinarySearchFunc(c.found, of, func(e entry, of uint32) int { return cmp.Compare(e.function, of) })
		if !found {
			k--
		}
		if k >= 0 {
			add(binary.LittleEndian.Uint32(coldMap[8*i:]), behind, c.found[k].source, true)
		}
	}
	order.Stable(all, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return all
}
