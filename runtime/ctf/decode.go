package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Bounds of one event.
const (
	maxPayload = 16 << 20 // bytes
	maxVoid    = 1 << 16  // elements that take no room
	maxOwn     = 1 << 12  // elements that become fields of their own
)

var (
	errSize   = fmt.Errorf("it has more than %d bytes", maxPayload)
	errVoid   = fmt.Errorf("it has more than %d elements of nothing", maxVoid)
	errOwn    = fmt.Errorf("it has more than %d elements that differ", maxOwn)
	errOption = errors.New("the tag of a variant has a value for which there is no option")
)

// A decoder reads values of a stream into a payload.
type decoder struct {
	cursor
	values  []uint64 // that others refer to
	payload []byte
	choices []byte // the options of variants and the lengths that the description depends on
	clock   uint64 // the time of the event, in the ticks of the stream's clock
	void    int    // elements of no size
	own     int
}

// begin prepares for an event.
func (d *decoder) begin() { d.payload, d.choices, d.void, d.own = d.payload[:0], d.choices[:0], 0, 0 }

// node reads the value of a node.
func (d *decoder) node(n *node) error {
	if n == nil {
		return nil
	}
	if d.align(n.alignment()); d.at > d.end {
		return errEnd
	}
	if len(d.payload) > maxPayload {
		return errSize
	}
	from := len(d.payload)
	err := d.value(n)
	if n.hidden {
		d.payload = d.payload[:min(from, len(d.payload))]
	}
	return err
}

func (d *decoder) value(n *node) error {
	switch n.kind {
	case kindInteger, kindEnum, kindFloat:
		return d.number(n)
	case kindString:
		from := len(d.payload)
		err := d.text()
		d.endText(n, from)
		return err
	case kindStruct:
		for _, k := range n.nodes {
			if err := d.node(k); err != nil {
				return err
			}
		}
		return nil
	case kindVariant:
		return d.variant(n)
	}
	return d.array(n)
}

// number reads a number.
func (d *decoder) number(n *node) error {
	of := n
	if n.kind == kindEnum {
		of = n.nodes[0]
	}
	v, err := d.cursor.number(of.size, of.big)
	if err != nil {
		return err
	}
	if of.signed {
		v = uint64(int64(v<<(64-of.size)) >> (64 - of.size))
	}
	if n.slot >= 0 {
		d.values[n.slot] = v
	}
	if n.ticks {
		d.tick(v, of.size)
	}
	switch {
	case of.size <= 8:
		d.payload = append(d.payload, byte(v))
	case of.size <= 16:
		d.payload = binary.LittleEndian.AppendUint16(d.payload, uint16(v))
	case of.size <= 32:
		d.payload = binary.LittleEndian.AppendUint32(d.payload, uint32(v))
	default:
		d.payload = binary.LittleEndian.AppendUint64(d.payload, v)
	}
	return nil
}

// tick moves the clock on to a value of which size bits are known.
func (d *decoder) tick(v uint64, size int) {
	if size == 64 {
		d.clock = v
		return
	}
	around := uint64(1) << size
	at := d.clock&^(around-1) | v
	if at < d.clock {
		at += around
	}
	d.clock = at
}

// variant reads the option that the tag has chosen.
func (d *decoder) variant(n *node) error {
	tag := d.values[n.of.slot]
	for i := range n.picks {
		if p := &n.picks[i]; p.has(tag, n.of.signed) {
			d.choices = binary.AppendUvarint(d.choices, uint64(p.option))
			return d.node(n.nodes[p.option])
		}
	}
	return errOption
}

// array reads an array or a sequence.
func (d *decoder) array(n *node) error {
	count := n.count
	if n.kind == kindSequence {
		count = d.values[n.of.slot]
		if n.varies {
			d.choices = binary.AppendUvarint(d.choices, count)
		}
	}
	e, from := n.nodes[0], len(d.payload)
	switch {
	case e.isText() && d.at&7 == 0:
		err := d.raw(count)
		d.endText(n, from)
		return err
	case e.kind == kindInteger && e.size == 8 && e.align == 8 && e.slot < 0:
		return d.raw(count)
	}
	if n.isExpanded() {
		if d.own += int(min(count, maxOwn+1)); d.own > maxOwn {
			return errOwn
		}
	}
	for range count {
		at := d.at
		if err := d.node(e); err != nil {
			return err
		}
		if d.at == at {
			if d.void++; d.void > maxVoid {
				return errVoid
			}
		}
	}
	return nil
}

// text reads the bytes up to a NUL, without it.
func (d *decoder) text() error {
	for from := len(d.payload); len(d.payload)-from <= maxPayload; {
		p := d.peek(windowSize / 2)
		if len(p) == 0 {
			return d.short()
		}
		part, _, ended := bytes.Cut(p, []byte{0})
		d.payload = append(d.payload, part...)
		if d.at += int64(len(part)) * 8; ended {
			d.at += 8
			return nil
		}
	}
	return errSize
}

// raw reads n bytes.
func (d *decoder) raw(n uint64) error {
	if n > uint64(d.end-d.at)/8 {
		return errEnd
	}
	if n > maxPayload {
		return errSize
	}
	for n > 0 {
		p := d.peek(int(min(n, windowSize/2)))
		if len(p) == 0 {
			return d.short()
		}
		d.payload = append(d.payload, p...)
		d.at += int64(len(p)) * 8
		n -= uint64(len(p))
	}
	return nil
}

// endText makes the bytes from a place on a text that ends at a NUL, in the form that the node
// asks for.
func (d *decoder) endText(n *node, from int) {
	text, _, _ := bytes.Cut(d.payload[from:], []byte{0})
	if !n.wide {
		d.payload = append(d.payload[:from+len(text)], 0)
		return
	}
	wide := string(text)
	d.payload = d.payload[:from]
	var units [2]uint16
	for _, r := range wide {
		for _, u := range utf16.AppendRune(units[:0], r) {
			d.payload = append(d.payload, byte(u), byte(u>>8))
		}
	}
	d.payload = append(d.payload, 0, 0)
}
