package parquet

import (
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/export/parquet/internal/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// The columns that each row begins with.
const (
	colTime = iota
	colTimeNS
	colProcess
	colThread
	colProcessor
	colActivity
	colRelated
	colVersion
	headColumns
)

// headNodes returns the columns that each row begins with, before those of constantNodes.
func headNodes() []*file.Node {
	return []*file.Node{
		{Name: "time", Type: file.Timestamp},
		{Name: "time_ns", Type: file.Int64},
		{Name: "pid", Type: file.Int64},
		{Name: "tid", Type: file.Int64},
		{Name: "cpu", Type: file.Int32},
		{Name: "activity", Type: file.UUID},
		{Name: "related", Type: file.UUID},
		{Name: "version", Type: file.Uint8, Required: true},
	}
}

// reserved are further names that no field can have: engines make columns of the
// folders.
var reserved = []string{"event", "table", "date", payloadColumn}

// payloadColumn is the column of events of which nothing is known.
const payloadColumn = "payload"

// A shape is the columns of one type of events: those of all versions.
type shape struct {
	nodes []*file.Node // after those that each row has
	names map[string]int
	raw   int // the column of payloads, or -1
	types Types
}

func newShape(types Types) *shape {
	s := &shape{names: make(map[string]int), raw: -1, types: types}
	for _, n := range append(headNodes(), constantNodes()...) {
		s.names[n.Name] = -1
	}
	for _, name := range reserved {
		s.names[name] = -1
	}
	return s
}

// A fit says in which column each field of a description is: its index, or -1 if
// it is in none. values are the columns of bits, and of times, as numbers.
type fit struct {
	columns []int
	values  []int
}

// fit finds columns for the fields of d. It reports whether the shape changed.
func (s *shape) fit(d *etw.EventDesc) (f fit, changed bool) {
	own := make(map[int]bool) // columns that this description has already
	for i := range d.Fields {
		field := &d.Fields[i]
		column, value := -1, -1
		if n := nodeOf(etw.UniqueName(d.Fields, i), field); n != nil {
			var grew bool
			column, grew = s.place(n, d.Version, own)
			changed = changed || grew
			switch {
			case isBits(field):
				value, grew = s.place(&file.Node{Name: n.Name + "_value", Type: file.Uint32}, d.Version, own)
			case n.Type == file.Timestamp && s.types == PlainTypes:
				value, grew = s.place(&file.Node{Name: n.Name + "_ns", Type: file.Int64}, d.Version, own)
			}
			changed = changed || grew
		}
		f.columns = append(f.columns, column)
		f.values = append(f.values, value)
	}
	return f, changed
}

// place finds the column for n, which the other versions may have, too. Names that
// differ in case alone are the same to engines.
func (s *shape) place(n *file.Node, version uint8, own map[int]bool) (column int, changed bool) {
	name := n.Name
	for try := 0; ; try++ {
		i, taken := s.names[strings.ToLower(name)]
		switch {
		case !taken:
			n.Name = name
			s.names[strings.ToLower(name)] = len(s.nodes)
			s.nodes = append(s.nodes, n)
			own[len(s.nodes)-1] = true
			return len(s.nodes) - 1, true
		case i >= 0 && !own[i] && mergeable(s.nodes[i], n):
			own[i] = true
			return i, merge(s.nodes[i], n)
		case try == 0 && i < 0:
			name = "field_" + n.Name
		case try <= 1 && i >= 0 && !own[i]:
			name = n.Name + "_v" + strconv.Itoa(int(version))
		default:
			name = n.Name + "_" + strconv.Itoa(try+1)
		}
	}
}

// mergeable reports whether one column can hold the values of two.
func mergeable(a, b *file.Node) bool {
	if isNested(a.Type) || isNested(b.Type) {
		return a.Type == b.Type
	}
	_, ok := common(a.Type, b.Type)
	return ok
}

func isNested(t file.Type) bool { return t == file.List || t == file.Struct }

// merge makes a hold the values of b, too. It reports whether a changed.
func merge(a, b *file.Node) (changed bool) {
	switch a.Type {
	case file.List:
		if !mergeable(a.Fields[0], b.Fields[0]) {
			a.Fields[0] = &file.Node{Name: "element", Type: file.Text}
			return true
		}
		return merge(a.Fields[0], b.Fields[0])
	case file.Struct:
	members:
		for _, m := range b.Fields {
			for _, has := range a.Fields {
				if strings.EqualFold(has.Name, m.Name) {
					if mergeable(has, m) {
						changed = merge(has, m) || changed
					}
					continue members
				}
			}
			a.Fields = append(a.Fields, m)
			changed = true
		}
		return changed
	}
	t, _ := common(a.Type, b.Type)
	changed = t != a.Type
	a.Type = t
	return changed
}

// signed has the integers with a sign, each twice as wide as the one before.
var signed = [...]file.Type{file.Int8, file.Int16, file.Int32, file.Int64}

// common returns a type that holds the values of both: text holds all. It reports
// false for the widest integers with a sign and without one, which only text would hold.
func common(a, b file.Type) (file.Type, bool) {
	if a == b {
		return a, true
	}
	if a > b {
		a, b = b, a
	}
	switch {
	case a == file.Float && b == file.Double:
		return b, true
	case a < file.Int8 || b > file.Uint64:
		return file.Text, true
	case b <= file.Int64 || a >= file.Uint8: // of one sign
		return b, true
	case b == file.Uint64:
		return b, false
	}
	return max(a, signed[b-file.Uint8+1]), true // the next wider one
}

// nodeOf returns the column of a field, or nil if it has no value.
func nodeOf(name string, d *etw.FieldDesc) *file.Node {
	if at := d.Type; at == etw.InRelLoc || at == etw.InDataLoc {
		if len(d.Fields) != 1 {
			return nil
		}
		if isCharacters(&d.Fields[0]) {
			return &file.Node{Name: name, Type: file.Text}
		}
		return listOf(name, elementOf(&d.Fields[0]))
	}
	if d.Count.Kind == etw.SizeNone {
		n := elementOf(d)
		if n != nil {
			n.Name = name
		}
		return n
	}
	if isCharacters(d) {
		return &file.Node{Name: name, Type: file.Text}
	}
	return listOf(name, elementOf(d))
}

func listOf(name string, element *file.Node) *file.Node {
	if element == nil {
		return nil
	}
	element.Name = "element"
	return &file.Node{Name: name, Type: file.List, Fields: []*file.Node{element}}
}

// elementOf returns the column of one element of a field, without a name.
func elementOf(d *etw.FieldDesc) *file.Node {
	if d.Type != etw.InStruct {
		t, ok := typeOf(d)
		if !ok {
			return nil
		}
		return &file.Node{Type: t}
	}
	n := &file.Node{Type: file.Struct}
	for i := range d.Fields {
		if m := nodeOf(memberName(d.Fields, i), &d.Fields[i]); m != nil {
			n.Fields = append(n.Fields, m)
		}
	}
	if len(n.Fields) == 0 {
		return nil
	}
	return n
}

// memberName returns the name of member i of a struct, which no member before it has
// in any case.
func memberName(fields []etw.FieldDesc, i int) string {
	name := etw.UniqueName(fields, i)
	for j := range i {
		if strings.EqualFold(etw.UniqueName(fields, j), name) {
			return name + "_" + strconv.Itoa(i)
		}
	}
	return name
}

// isCharacters reports whether an array is text.
func isCharacters(d *etw.FieldDesc) bool {
	switch d.Type {
	case etw.InChar8, etw.InChar16:
		return true
	case etw.InUInt8, etw.InInt8, etw.InUInt16:
		return isText(d.Out)
	}
	return false
}

// isText reports whether bytes are shown as text.
func isText(o etw.OutType) bool {
	return o == etw.OutString || o == etw.OutXML || o == etw.OutJSON || o == etw.OutUTF8
}

// isInteger reports whether values of t are whole numbers.
func isInteger(t etw.InType) bool {
	switch t {
	case etw.InHexInt32, etw.InHexInt64, etw.InVarInt, etw.InVarUint:
		return true
	}
	return t >= etw.InInt8 && t <= etw.InUInt64
}

// isBits reports whether a field is a set of bits that have names.
func isBits(d *etw.FieldDesc) bool {
	return d.Map != nil && d.Map.Flags && isInteger(d.Type) && d.Count.Kind == etw.SizeNone
}

// fieldTypes has the types of fields whose values need no rendering.
var fieldTypes = map[etw.InType]file.Type{
	etw.InInt8: file.Int8, etw.InInt16: file.Int16, etw.InInt32: file.Int32, etw.InInt64: file.Int64, etw.InVarInt: file.Int64,
	etw.InUInt8: file.Uint8, etw.InUInt16: file.Uint16, etw.InUInt32: file.Uint32, etw.InUInt64: file.Uint64,
	etw.InVarUint: file.Uint64, etw.InHexInt32: file.Uint32, etw.InHexInt64: file.Uint64, etw.InPointer: file.Uint64,
	etw.InFloat: file.Float, etw.InDouble: file.Double, etw.InBoolean: file.Bool, etw.InBool8: file.Bool,
	etw.InGUID: file.UUID, etw.InFileTime: file.Timestamp, etw.InSystemTime: file.Timestamp,
}

// typeOf returns the type of the values of a field, and false if it has none.
func typeOf(d *etw.FieldDesc) (file.Type, bool) {
	if d.Type == etw.InNull {
		return 0, false
	}
	if isInteger(d.Type) {
		if d.Map != nil || d.Out == etw.OutIPv4 || isText(d.Out) && (d.Type <= etw.InUInt16) {
			return file.Text, true
		}
	}
	if t, ok := fieldTypes[d.Type]; ok {
		return t, true
	}
	switch d.Type {
	case etw.InBinary, etw.InCountedBinary, etw.InLongBinary:
		if !isText(d.Out) && d.Out != etw.OutIPv6 && d.Out != etw.OutSocketAddress {
			return file.Bytes, true
		}
	}
	return file.Text, true
}
