package gcdump

import (
	"fmt"
	"math"
)

// A Builder makes a dump of nodes.
type Builder struct {
	d     *Dump
	sized []bool // types of which a node is set
	err   error
}

// NewBuilder returns a builder of a dump with as many nodes, each of which is to be set.
// Those that are not stay undefined.
func NewBuilder(nodes int) *Builder {
	d := &Dump{CountMultiplier: 1, SizeMultiplier: 1, Is64: true, hasSkip: true, hasTool: true, has64: true,
		Addresses: make([]uint64, nodes), offsets: make([]int32, nodes)}
	b := &Builder{d: d}
	b.Type("UNDEFINED", "")
	d.Types[0].Size = 0
	d.blob = []byte{0, 0} // what undefined nodes are: of type 0, without references
	b.sized[0] = true
	return b
}

// unsized is the size of a type of which there is no node.
const unsized = -1

// Type adds a type, whose module may be unknown, and returns its number.
func (b *Builder) Type(name, module string) int {
	b.d.Types = append(b.d.Types, Type{Name: Text{name, true}, Size: unsized, Module: Text{module, module != ""}})
	b.sized = append(b.sized, false)
	return len(b.d.Types) - 1
}

// Set sets node i. A size that does not fit is the largest that does. Each node is set once.
func (b *Builder) Set(i, typ int, address uint64, size int64, children []int) {
	d := b.d
	if len(d.blob) > math.MaxInt32-16 {
		b.err = errTooLarge
	}
	if typ < 0 || typ >= len(d.Types) {
		b.err = fmt.Errorf("gcdump: node %d has the type %d of %d", i, typ, len(d.Types))
	}
	if b.err != nil {
		return
	}
	size = max(min(size, math.MaxInt32), 0)
	d.TotalSize += size
	d.Addresses[i], d.offsets[i] = address, int32(len(d.blob))
	if !b.sized[typ] {
		b.sized[typ], d.Types[typ].Size = true, int32(size)
	}
	own := size != int64(d.Types[typ].Size)
	if own {
		d.blob = appendCint(appendCint(d.blob, int64(typ)<<1|1), size)
	} else {
		d.blob = appendCint(d.blob, int64(typ)<<1)
	}
	d.blob = appendCint(d.blob, int64(len(children)))
	for _, to := range children {
		if to < 0 || to >= len(d.offsets) {
			b.err = fmt.Errorf("gcdump: node %d refers to node %d of %d", i, to, len(d.offsets))
			return
		}
		d.blob = appendCint(d.blob, int64(to-i))
	}
}

// Dump returns the dump of the nodes that are set. The builder is then of no more use.
func (b *Builder) Dump(root int) (*Dump, error) {
	if b.err == nil && len(b.d.blob) > math.MaxInt32 {
		b.err = errTooLarge
	}
	if b.err == nil && (root < 0 || root >= len(b.d.offsets)) {
		b.err = fmt.Errorf("gcdump: the root is node %d of %d", root, len(b.d.offsets))
	}
	b.d.Root = root
	return b.d, b.err
}
