package parquet

import (
	"encoding/hex"
	"math"
	"strings"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A column puts the values of a field where they belong: into the leaf of a scalar, or those
// of its parts. Fields of several versions can have the same leaves.
type column struct {
	typ     file.Type // of the leaf
	field   *etw.FieldDesc
	leaves  []*file.Leaf // all that the column is stored in
	members []*column    // of a struct, by the index in the description; nil if not stored
	element *column      // of a list
	missing []*file.Leaf // of a struct, those that this version does not have
	rep     uint8        // of the further elements of a list
}

// bind returns the column of the field d in the leaves of n, which is at a level of
// repetition.
func bind(n *file.Node, d *etw.FieldDesc, leaves []*file.Leaf, rep uint8) *column {
	c := &column{typ: n.Type, field: d, leaves: leaves}
	switch n.Type {
	case file.List:
		c.rep = rep + 1
		element := d
		if d.Type == etw.InRelLoc || d.Type == etw.InDataLoc {
			element = &d.Fields[0]
		}
		c.element = bind(n.Fields[0], element, leaves, rep+1)
	case file.Struct:
		c.members = make([]*column, len(d.Fields))
		used := make(map[int]bool)
		for i := range d.Fields {
			k := memberOf(n, memberName(d.Fields, i))
			if k < 0 || used[k] {
				continue
			}
			if own := nodeOf("", &d.Fields[i]); own == nil || !mergeable(n.Fields[k], own) {
				continue
			}
			used[k] = true
			at := leavesBefore(n, k)
			c.members[i] = bind(n.Fields[k], &d.Fields[i], leaves[at:at+n.Fields[k].Leaves()], rep)
		}
		for k, m := range n.Fields {
			if !used[k] {
				at := leavesBefore(n, k)
				c.missing = append(c.missing, leaves[at:at+m.Leaves()]...)
			}
		}
	}
	return c
}

func memberOf(n *file.Node, name string) int {
	for k, m := range n.Fields {
		if strings.EqualFold(m.Name, name) {
			return k
		}
	}
	return -1
}

func leavesBefore(n *file.Node, k int) int {
	sum := 0
	for _, m := range n.Fields[:k] {
		sum += m.Leaves()
	}
	return sum
}

// nulls adds a null to all leaves, that goes so far.
func nulls(leaves []*file.Leaf, rep, def uint8) {
	for _, l := range leaves {
		l.Null(rep, def)
	}
}

// A shredder adds values to columns. Its buffer is for text.
type shredder struct{ buf []byte }

// add adds a value at the given levels, where def is that of its parent.
func (s *shredder) add(c *column, v etw.Value, rep, def uint8) {
	switch kind := v.Kind(); {
	case kind == etw.ValueNone:
		nulls(c.leaves, rep, def)
	case c.typ == file.Struct:
		if kind != etw.ValueStruct {
			nulls(c.leaves, rep, def)
			return
		}
		s.members(c, v, rep, def+1)
	case c.typ == file.List:
		if kind != etw.ValueArray {
			nulls(c.leaves, rep, def)
			return
		}
		s.elements(c, v, rep, def+1)
	default:
		s.scalar(c, c.leaves[0], v, rep, def)
	}
}

// members adds the members of a struct.
func (s *shredder) members(c *column, v etw.Value, rep, def uint8) {
	next := 0
	for i, m := range v.Members() {
		for ; next < i && next < len(c.members); next++ {
			if c.members[next] != nil {
				nulls(c.members[next].leaves, rep, def)
			}
		}
		if i < len(c.members) && c.members[i] != nil {
			s.add(c.members[i], m, rep, def)
		}
		next = i + 1
	}
	for ; next < len(c.members); next++ {
		if c.members[next] != nil {
			nulls(c.members[next].leaves, rep, def)
		}
	}
	nulls(c.missing, rep, def)
}

// elements adds the elements of an array.
func (s *shredder) elements(c *column, v etw.Value, rep, def uint8) {
	any := false
	for e := range v.Elements() {
		s.add(c.element, e, rep, def+1)
		rep, any = c.rep, true
	}
	if !any {
		nulls(c.leaves, rep, def)
	}
}

// scalar adds a value that is neither an array nor a struct.
func (s *shredder) scalar(c *column, l *file.Leaf, v etw.Value, rep, def uint8) {
	switch c.typ {
	case file.Text:
		s.buf = etw.AppendFieldPlain(s.buf[:0], c.field, v)
		l.Text(s.buf, rep)
		return
	case file.Bytes:
		l.Text(v.Bytes(), rep)
		return
	case file.UUID:
		if v.Kind() == etw.ValueGUID {
			g := v.GUID()
			u := textOrder(g)
			l.Text(u[:], rep)
			return
		}
	case file.Timestamp, file.Micros:
		if ns, ok := nanoseconds(v); ok {
			l.Number(timeIn(c.typ, ns), rep)
			return
		}
	default:
		if n, ok := number(c, v); ok {
			l.Number(n, rep)
			return
		}
	}
	l.Null(rep, def)
}

// textOrder returns the bytes of a GUID in the order in which its text has them.
func textOrder(g etw.GUID) (u [16]byte) {
	u = g
	u[0], u[1], u[2], u[3] = g[3], g[2], g[1], g[0]
	u[4], u[5], u[6], u[7] = g[5], g[4], g[7], g[6]
	return u
}

// number returns the bits of a number.
func number(c *column, v etw.Value) (uint64, bool) {
	switch v.Kind() {
	case etw.ValueInt, etw.ValueUint, etw.ValuePointer:
		n := v.Uint()
		if c.field.Out == etw.OutPort {
			n = n>>8&0xff | n&0xff<<8
		}
		switch c.typ {
		case file.Double:
			return math.Float64bits(float64(v.Int())), true
		case file.Bool:
			return b2u(n != 0), true
		case file.Float:
			return 0, false
		}
		return n, true
	case etw.ValueBool:
		return b2u(v.Bool()), true
	case etw.ValueFloat, etw.ValueFloat32:
		if c.typ == file.Float {
			return uint64(math.Float32bits(float32(v.Float()))), true
		}
		return math.Float64bits(v.Float()), true
	}
	return 0, false
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// unixEpoch is 1970 as a FileTime.
const unixEpoch = 116444736000000000

// nanosecondsOf returns a time in ns since 1970, and false if that is too far away.
func nanosecondsOf(t etw.FileTime) (int64, bool) {
	const most = math.MaxInt64 / 100
	if t < unixEpoch-most || t > unixEpoch+most {
		return 0, false
	}
	return (int64(t) - unixEpoch) * 100, true
}

// timeIn returns a time, in ns, in the unit of a type: a µs begins before the times in it.
func timeIn(t file.Type, ns int64) uint64 {
	if t == file.Timestamp {
		return uint64(ns)
	}
	us := ns / 1000
	if ns%1000 < 0 {
		us--
	}
	return uint64(us)
}

// nanoseconds returns the time that v is.
func nanoseconds(v etw.Value) (int64, bool) {
	switch v.Kind() {
	case etw.ValueFileTime:
		return nanosecondsOf(v.FileTime())
	case etw.ValueSystemTime:
		t := v.SystemTime()
		if t.Year < 1600 || t.Year > 2300 || t.Month < 1 || t.Month > 12 || t.Day < 1 || t.Day > 31 {
			return 0, false
		}
		return nanosecondsOf(etw.FileTimeOf(t.Time()))
	}
	return 0, false
}

// hex8 returns the first 8 digits of a hash.
func hex8(h [32]byte) string { return hex.EncodeToString(h[:4]) }
