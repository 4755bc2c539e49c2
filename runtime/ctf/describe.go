package ctf

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A describer makes descriptions of the payloads that a decoder makes.
type describer struct {
	choices []byte // of the decoder
}

func (d *describer) choice() uint64 {
	v, n := binary.Uvarint(d.choices)
	d.choices = d.choices[max(n, 0):]
	return v
}

// members describes the members of a struct.
func (d *describer) members(list []etw.FieldDesc, n *node) []etw.FieldDesc {
	if n == nil {
		return list
	}
	for _, k := range n.nodes {
		if !k.hidden {
			list = d.field(list, k, k.name)
		}
	}
	return list
}

// field describes a field, which may be several if its elements are, or one of an option that
// is empty.
func (d *describer) field(list []etw.FieldDesc, n *node, name string) []etw.FieldDesc {
	f := etw.FieldDesc{Name: name}
	switch n.kind {
	case kindInteger, kindEnum:
		f.Type, f.Out = numberType(n)
		f.Map, n.place = n.names(), uint32(len(list))
	case kindFloat:
		f.Type = etw.InFloat
		if n.size == 64 {
			f.Type = etw.InDouble
		}
	case kindString:
		f.Type, f.Out = etw.InAnsiString, etw.OutUTF8
	case kindStruct:
		f.Type, f.Fields = etw.InStruct, d.members(nil, n)
	case kindVariant:
		o := n.nodes[d.choice()]
		return d.field(list, o, name)
	default:
		return d.array(list, n, name)
	}
	return append(list, f)
}

// array describes an array or a sequence.
func (d *describer) array(list []etw.FieldDesc, n *node, name string) []etw.FieldDesc {
	size := etw.Size{Kind: etw.SizeConst, N: uint32(n.count)}
	if n.kind == kindSequence && n.varies {
		size.N = uint32(d.choice())
	} else if n.kind == kindSequence {
		size = etw.Size{Kind: etw.SizeField, Up: uint8(n.distance()), N: n.of.place}
	}
	e := n.nodes[0]
	switch {
	case e.isText():
		e, size = textNode, etw.Size{}
	case n.isExpanded():
		for i := range size.N {
			list = d.field(list, e, name+"["+strconv.Itoa(int(i))+"]")
		}
		return list
	}
	at := len(list)
	list = d.field(list, e, name)
	list[at].Count = size
	return list
}

// textNode stands for an array of characters.
var textNode = &node{ctype: &ctype{kind: kindString}}

// numberType returns the type of a number.
func numberType(n *node) (etw.InType, etw.OutType) {
	if n.kind == kindEnum {
		n = n.nodes[0]
	}
	i := min(bits.Len(uint(n.size-1)>>3), 3)
	switch {
	case n.signed:
		return etw.InInt8 + 2*etw.InType(i), 0
	case n.hex:
		return etw.InUInt8 + 2*etw.InType(i), etw.OutHexInt8 + etw.OutType(i)
	}
	return etw.InUInt8 + 2*etw.InType(i), 0
}

// maxNamed bounds the values of a label that are named one by one.
const maxNamed = 256

// names returns the labels of an enum.
func (n *node) names() *etw.MapDesc {
	if n.kind != kindEnum {
		return nil
	}
	m := &etw.MapDesc{}
	for _, l := range n.labels {
		for v := l.lo; v-l.lo <= l.hi-l.lo && v-l.lo < maxNamed && len(m.Entries) < maxNamed; v++ {
			m.Entries = append(m.Entries, etw.MapEntry{Value: uint32(v), Name: l.name})
		}
	}
	return m
}
