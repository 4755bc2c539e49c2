package file

import (
	"encoding/binary"
	"io"
	"slices"
)

const magic = "PAR1"

// A Writer writes one file.
type Writer struct {
	w       io.Writer
	root    []*Node
	meta    [][2]string
	sorted  *Leaf // the column by which rows may be sorted, or nil
	leaves  []*Leaf
	offset  int64
	rows    int64 // that are written
	pending int64 // that are not
	groups  thrift
	count   int // of groups
	err     error
}

// NewWriter returns a writer of a file with these columns, and with texts that
// describe it.
func NewWriter(w io.Writer, columns []*Node, meta [][2]string) *Writer {
	return &Writer{w: w, root: columns, meta: meta, leaves: leavesOf(columns)}
}

// leavesOf returns the columns that nodes are stored in.
func leavesOf(nodes []*Node) (list []*Leaf) {
	for _, n := range nodes {
		list = n.addLeaves(list, nil, 0, 0)
	}
	return list
}

// begin writes the begin of a file, if nothing is written yet.
func (f *Writer) begin() {
	if f.offset == 0 && f.err == nil {
		f.err = f.write([]byte(magic))
	}
}

// addLeaves adds the columns that n is stored in.
func (n *Node) addLeaves(list []*Leaf, path []string, def, rep uint8) []*Leaf {
	path = append(path[:len(path):len(path)], n.Name)
	if !n.Required {
		def++
	}
	switch n.Type {
	case List:
		return n.Fields[0].addLeaves(list, append(path, "list"), def+1, rep+1)
	case Map:
		path, def, rep = append(path, "key_value"), def+1, rep+1
	case Struct:
	default:
		return append(list, &Leaf{typ: n.Type, path: path, maxDef: def, maxRep: rep})
	}
	for _, m := range n.Fields {
		list = m.addLeaves(list, path, def, rep)
	}
	return list
}

// Leaves returns the columns that values are stored in, in the order of the schema.
func (f *Writer) Leaves() []*Leaf { return f.leaves }

// SortedBy names a column of numbers. Row groups that have their rows in its order say so.
func (f *Writer) SortedBy(l *Leaf) { f.sorted = l }

// EndRow ends a row, for which each leaf has got a value or a null.
func (f *Writer) EndRow() { f.pending++ }

// Rows returns the number of all rows, and Pending of those that are not written yet.
func (f *Writer) Rows() int64 { return f.rows + f.pending }

// Pending returns how many rows are not written yet.
func (f *Writer) Pending() int64 { return f.pending }

// Size returns the number of bytes that are written.
func (f *Writer) Size() int64 { return f.offset }

// Memory returns how many bytes the rows take that are not written yet.
func (f *Writer) Memory() int {
	sum := cap(f.groups.b)
	for _, l := range f.leaves {
		sum += l.memory()
	}
	return sum
}

func (f *Writer) write(p []byte) error {
	n, err := f.w.Write(p)
	f.offset += int64(n)
	return err
}

// Flush writes the rows that there are as a row group. It keeps their memory for
// further ones, or not.
func (f *Writer) Flush(enc *Encoder, keep bool) error {
	if f.pending == 0 {
		return f.err
	}
	if f.begin(); f.err != nil {
		return f.err
	}
	start := f.offset
	var plain, packed int64
	sorted := f.sorted != nil && f.sorted.rises()
	t := &f.groups
	t.begin()
	t.list(1, compactStruct, len(f.leaves))
	for _, l := range f.leaves {
		c, err := enc.column(f, l)
		if err != nil {
			f.err = err
			return err
		}
		f.describe(t, l, &c)
		plain += c.plainSize
		packed += c.packedSize
		l.reset(keep)
	}
	t.i64(2, plain)
	t.i64(3, f.pending)
	if sorted {
		t.list(4, compactStruct, 1)
		t.begin()
		t.i32(1, int32(slices.Index(f.leaves, f.sorted)))
		t.boolean(2, false)
		t.boolean(3, false)
		t.end()
	}
	t.i64(5, start)
	t.i64(6, packed)
	t.end()
	f.count++
	f.rows += f.pending
	f.pending = 0
	return nil
}

// describe appends the metadata of a column of a row group.
func (f *Writer) describe(t *thrift, l *Leaf, c *chunk) {
	first := c.data
	if c.dictionary > 0 {
		first = c.dictionary
	}
	t.begin()
	t.i64(2, first)
	t.nest(3)
	t.i32(1, l.typ.physical())
	encodings := []int32{encodingRLE, c.encoding}
	if c.encoding == encodingDictionary {
		encodings = append(encodings, encodingPlain)
	}
	t.list(2, compactI32, len(encodings))
	for _, e := range encodings {
		t.b = binary.AppendVarint(t.b, int64(e))
	}
	t.list(3, compactBinary, len(l.path))
	for _, name := range l.path {
		t.element(name)
	}
	t.i32(4, codecZstd)
	t.i64(5, int64(l.n))
	t.i64(6, c.plainSize)
	t.i64(7, c.packedSize)
	t.i64(9, c.data)
	if c.dictionary > 0 {
		t.i64(11, c.dictionary)
	}
	t.nest(12)
	t.i64(3, c.nulls)
	if low, high, ok := l.bounds(); ok {
		t.bytes(5, high.value)
		t.bytes(6, low.value)
		t.boolean(7, high.exact)
		t.boolean(8, low.exact)
	}
	t.end()
	t.end()
	t.end()
}

// Close writes the rest, and the description of the file. It does not close the underlying
// writer.
func (f *Writer) Close(enc *Encoder) error {
	if err := f.Flush(enc, false); err != nil {
		return err
	}
	if f.begin(); f.err != nil {
		return f.err
	}
	t := schemaOf(f.root)
	t.i64(3, f.rows)
	t.list(4, compactStruct, f.count)
	t.b = append(t.b, f.groups.b...)
	t.list(5, compactStruct, len(f.meta))
	for _, m := range f.meta {
		t.begin()
		t.text(1, m[0])
		t.text(2, m[1])
		t.end()
	}
	t.text(6, "etwgen")
	t.list(7, compactStruct, len(f.leaves))
	for range f.leaves {
		t.begin()
		t.nest(1)
		t.end()
		t.end()
	}
	t.end()
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(len(t.b)))
	f.err = f.write(append(t.b, magic...))
	return f.err
}

// schemaOf begins the description of a file with these columns.
func schemaOf(root []*Node) *thrift {
	t := &thrift{}
	t.begin()
	t.i32(1, 2)
	elements := 1
	for _, n := range root {
		elements += n.elements()
	}
	t.list(2, compactStruct, elements)
	t.begin()
	t.text(4, "schema")
	t.i32(5, int32(len(root)))
	t.end()
	for _, n := range root {
		n.appendSchema(t)
	}
	return t
}
