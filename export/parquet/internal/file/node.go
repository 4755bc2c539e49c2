package file

// A Type is the type of the values of a column.
type Type uint8

// The types of columns. Numbers are given as uint64: their bits, sign-extended.
const (
	Bool      Type = iota // 0 or 1
	Int8                  // and the other integers
	Int16                 //
	Int32                 //
	Int64                 //
	Uint8                 //
	Uint16                //
	Uint32                //
	Uint64                //
	Float                 // the 32 bits of a float32
	Double                // the 64 bits of a float64
	Timestamp             // ns since 1970, of no time zone
	Text                  // UTF-8
	Bytes                 // any bytes
	UUID                  // 16 bytes, in the order of the text
	List                  // Fields has its one element
	Struct                // Fields has its members
	Micros                // µs since 1970, of UTC
	Map                   // Fields has its key, which is Required, and its value
)

// isBytes reports whether values of t are given as bytes.
func (t Type) isBytes() bool { return t == Text || t == Bytes || t == UUID }

// A Node is a column, or a group of columns below a name.
type Node struct {
	Name     string
	Type     Type
	Required bool  // it is never null
	ID       int32 // which it has in all files, or 0
	Fields   []*Node
}

// isGroup reports whether values of t consist of other nodes.
func (t Type) isGroup() bool { return t == List || t == Struct || t == Map }

// Leaves returns the number of columns that n is stored in.
func (n *Node) Leaves() int {
	if !n.Type.isGroup() {
		return 1
	}
	sum := 0
	for _, f := range n.Fields {
		sum += f.Leaves()
	}
	return sum
}

// The physical types of the format.
const (
	physicalBoolean    = 0
	physicalInt32      = 1
	physicalInt64      = 2
	physicalFloat      = 4
	physicalDouble     = 5
	physicalBytes      = 6
	physicalFixedBytes = 7
)

// physical returns how values of t are stored.
func (t Type) physical() int32 {
	switch t {
	case Bool:
		return physicalBoolean
	case Int8, Int16, Int32, Uint8, Uint16, Uint32:
		return physicalInt32
	case Float:
		return physicalFloat
	case Double:
		return physicalDouble
	case Text, Bytes:
		return physicalBytes
	case UUID:
		return physicalFixedBytes
	}
	return physicalInt64
}

// integers has the width and the sign of the integers.
var integers = [...]struct {
	bits      byte
	signed    bool
	converted int32 // as older readers know it
}{
	Int8: {8, true, 15}, Int16: {16, true, 16}, Int32: {32, true, 17}, Int64: {64, true, 18},
	Uint8: {8, false, 11}, Uint16: {16, false, 12}, Uint32: {32, false, 13}, Uint64: {64, false, 14},
}

// The meanings of lists and maps, as older readers know them.
const (
	convertedMap  = 1
	convertedList = 3
)

// Repetition types.
const (
	repRequired = 0
	repOptional = 1
	repRepeated = 2
)

// appendSchema appends n and all that is below it, in the order of the format.
func (n *Node) appendSchema(t *thrift) {
	repetition := int32(repOptional)
	if n.Required {
		repetition = repRequired
	}
	t.begin()
	if n.Type == List || n.Type == Map || n.Type == Struct {
		t.i32(3, repetition)
		t.text(4, n.Name)
		switch n.Type {
		case List:
			n.appendRepeated(t, convertedList, 3, "list")
		case Map:
			n.appendRepeated(t, convertedMap, 2, "key_value")
		default:
			t.i32(5, int32(len(n.Fields)))
			n.appendID(t)
			t.end()
		}
		for _, f := range n.Fields {
			f.appendSchema(t)
		}
		return
	}
	t.i32(1, n.Type.physical())
	if n.Type == UUID {
		t.i32(2, 16)
	}
	t.i32(3, repetition)
	t.text(4, n.Name)
	if c, ok := n.Type.converted(); ok {
		t.i32(6, c)
	}
	n.appendID(t)
	n.Type.appendLogical(t)
	t.end()
}

// appendRepeated appends the rest of a node whose elements are in a repeated one of this name,
// which comes next, with the numbers by which older and newer readers know such nodes.
func (n *Node) appendRepeated(t *thrift, converted int32, logical int16, name string) {
	t.i32(5, 1)
	t.i32(6, converted)
	n.appendID(t)
	t.union(10, logical)
	t.end()
	t.begin()
	t.i32(3, repRepeated)
	t.text(4, name)
	t.i32(5, int32(len(n.Fields)))
	t.end()
}

// converted returns the meaning of t for older readers.
func (t Type) converted() (int32, bool) {
	switch {
	case t == Text:
		return 0, true
	case t == Micros:
		return 10, true
	case t >= Int8 && t <= Uint64:
		return integers[t].converted, true
	}
	return 0, false
}

// appendID appends the number that the node has in all files.
func (n *Node) appendID(t *thrift) {
	if n.ID > 0 {
		t.i32(9, n.ID)
	}
}

// appendLogical appends the meaning of t.
func (t Type) appendLogical(w *thrift) {
	switch t {
	case Text:
		w.union(10, 1)
	case UUID:
		w.union(10, 14)
	case Timestamp, Micros:
		unit := int16(3) // ns
		if t == Micros {
			unit = 2
		}
		w.nest(10)
		w.nest(8)
		w.boolean(1, t == Micros)
		w.nest(2)
		w.nest(unit)
		w.end()
		w.end()
		w.end()
		w.end()
	case Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64:
		w.nest(10)
		w.nest(10)
		w.i8(1, integers[t].bits)
		w.boolean(2, integers[t].signed)
		w.end()
		w.end()
	}
}

// elements returns the number of elements of the schema that n is.
func (n *Node) elements() int {
	sum := 1
	if n.Type == List || n.Type == Map {
		sum++
	}
	for _, f := range n.Fields {
		sum += f.elements()
	}
	return sum
}
