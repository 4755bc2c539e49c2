package file

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// column is short for a node.
func column(name string, t Type, fields ...*Node) *Node {
	return &Node{Name: name, Type: t, Fields: fields}
}

// everyType has a column of each type, alone, in lists and in lists of structs with lists.
func everyType() []*Node {
	id := &Node{Name: "id", Type: Text, Required: true, ID: 7}
	nodes := []*Node{id}
	var members []*Node
	for t := Bool; t <= Micros; t++ {
		if t.isGroup() {
			continue
		}
		nodes = append(nodes, column(fmt.Sprint("c", t), t), column(fmt.Sprint("l", t), List, column("element", t)))
		members = append(members, column(fmt.Sprint("m", t), t))
	}
	members = append(members, column("list", List, column("element", Text)))
	return append(nodes, column("s", List, column("element", Struct, members...)),
		column("m", Map, &Node{Name: "key", Type: Text, Required: true}, column("value", Text)))
}

// A rower writes rows of random values.
type rower struct {
	r *rand.Rand
	w *Writer
}

// row writes a row. How values look is a matter of style: all the same, few, or any.
func (x *rower) row(style int) {
	at := 0
	for _, n := range x.w.root {
		x.node(n, x.w.leaves[at:at+n.Leaves()], 0, 0, style)
		at += n.Leaves()
	}
	x.w.EndRow()
}

func (x *rower) node(n *Node, leaves []*Leaf, rep, def uint8, style int) {
	null := func(def uint8) {
		for _, l := range leaves {
			l.Null(rep, def)
		}
	}
	if !n.Required {
		if style > 0 && x.r.IntN(8) == 0 {
			null(def)
			return
		}
		def++
	}
	switch n.Type {
	case List, Map:
		count := x.r.IntN(4)
		if count == 0 {
			null(def)
		}
		inner := leaves[0].maxRep
		for range count {
			x.members(n, leaves, rep, def+1, style)
			rep = inner
		}
	case Struct:
		x.members(n, leaves, rep, def, style)
	default:
		x.value(leaves[0], rep, style)
	}
}

func (x *rower) members(n *Node, leaves []*Leaf, rep, def uint8, style int) {
	for _, f := range n.Fields {
		x.node(f, leaves[:f.Leaves()], rep, def, style)
		leaves = leaves[f.Leaves():]
	}
}

func (x *rower) value(l *Leaf, rep uint8, style int) {
	v := []uint64{42, uint64(x.r.IntN(5)), x.r.Uint64()}[style]
	switch {
	case l.typ == UUID:
		l.Text(fmt.Appendf(nil, "%016d", v%1e16), rep)
	case l.typ.isBytes():
		l.Text([]byte(strings.Repeat("é", int(v%100))), rep)
	case l.typ == Bool:
		l.Number(v&1, rep)
	case l.typ.physical() == physicalInt32:
		l.Number(l.typ.widen(uint32(v)), rep)
	case l.typ == Float:
		l.Number(uint64(uint32(v)), rep)
	default:
		l.Number(v, rep)
	}
}

// written returns a file of that many rows, in groups of some.
func written(t testing.TB, nodes []*Node, rows, group int) []byte {
	t.Helper()
	enc, err := NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	x := rower{rand.New(rand.NewPCG(1, uint64(rows))), NewWriter(&out, nodes, nil)}
	for i := range rows {
		x.row(i / group % 3)
		if (i+1)%group == 0 {
			if err := x.w.Flush(enc, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := x.w.Close(enc); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// copied returns a copy of a file, in groups of some rows.
func copied(b []byte, filter *Filter, group int64) ([]byte, error) {
	f, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	enc, err := NewEncoder()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := NewWriter(&out, f.Columns(), nil)
	if _, err = f.Copy(w, new(Decoder), filter, func() error {
		if w.Pending() >= group {
			return w.Flush(enc, true)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	err = w.Close(enc)
	return out.Bytes(), err
}

// A copy of a file is the same to the last bit, whatever encodings its values have.
func TestCopy(t *testing.T) {
	nodes := everyType()
	for _, rows := range []int{0, 1, 7, 3 * copyRows, 70_000} {
		if rows > copyRows {
			nodes = nodes[:12]
		}
		b := written(t, nodes, rows, copyRows)
		got, err := copied(b, nil, copyRows)
		if err != nil {
			t.Fatalf("%d rows: %v", rows, err)
		}
		if !bytes.Equal(got, b) {
			t.Errorf("%d rows: the copy has %d bytes, not %d", rows, len(got), len(b))
		}
	}
}

// Of rows in pages of several, those that a filter takes are copied, and no others.
func TestFilter(t *testing.T) {
	b := written(t, everyType(), 5000, 2000)
	ids := make(map[string]bool)
	all := &Filter{"id", func(p []byte) bool { ids[string(p)] = true; return true }}
	if got, err := copied(b, all, 2000); err != nil || len(ids) < 50 {
		t.Fatalf("%d ids, %d bytes, %v", len(ids), len(got), err)
	}
	odd := func(p []byte) bool { return len(p)%4 == 2 }
	once, err := copied(b, &Filter{"id", odd}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	again, err := copied(once, &Filter{"id", func(p []byte) bool {
		if !odd(p) {
			t.Errorf("%q is there", p)
		}
		return true
	}}, 1<<20)
	if err != nil || !bytes.Equal(once, again) || len(once) > len(b)*2/3 {
		t.Errorf("%v: %d bytes, then %d, of %d", err, len(once), len(again), len(b))
	}
	if _, err := copied(b, &Filter{"c0", odd}, 1<<20); err == nil {
		t.Error("a column without texts chooses rows")
	}
}

func TestMerge(t *testing.T) {
	a := []*Node{column("x", Int32), column("y", Text)}
	both, ok := Merge(a, []*Node{column("z", List, column("element", Text)), column("x", Int32)})
	if !ok || len(both) != 3 || both[2].Name != "z" {
		t.Errorf("%v, %v", both, ok)
	}
	for _, b := range [][]*Node{{column("x", Int64)}, {column("y", List, column("element", Text))}, {{Name: "n", Type: Text, Required: true}}} {
		if _, ok := Merge(a, b); ok {
			t.Errorf("%s merges", b[0].Name)
		}
	}
}

// A file with a byte that differs is an error, or has as many rows; one that is cut is an error.
func TestDamage(t *testing.T) {
	b := written(t, everyType()[:9], 300, 100)
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		bad := slices.Clone(b)
		bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		_, _ = copied(bad, nil, 100)
		if _, err := copied(b[:r.IntN(len(b))], nil, 100); err == nil {
			t.Fatal("a part of a file is one")
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(written(f, everyType()[:9], 50, 20))
	f.Add(written(f, everyType(), 3, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		enc, err := NewEncoder()
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(io.Discard, r.Columns(), nil)
		n, err := r.Copy(w, new(Decoder), nil, func() error { return w.Flush(enc, true) })
		if err == nil && n != r.Rows() {
			t.Errorf("%d rows of %d", n, r.Rows())
		}
		all := int64(0)
		if err := r.Values(new(Decoder), []string{r.Columns()[0].Name}, func([]Cell) error { all++; return nil }); err == nil && all != r.Rows() {
			t.Errorf("%d values in %d rows", all, r.Rows())
		}
	})
}
