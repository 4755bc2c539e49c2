package gcdump

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

func recorded(tb testing.TB) []string {
	return corpus.Glob(tb, "recordings", "gcdump", "*.gcdump.gz")
}

// Files of others are written again to the same bytes, also when their nodes are made anew.
func TestSameBytes(t *testing.T) {
	for _, path := range recorded(t) {
		data := testio.Unpacked(t, path)
		d, err := Read(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if again := written(t, d); !bytes.Equal(data, again) {
			t.Errorf("%s: %d bytes are others when they are written again", path, len(data))
		}
		if again := written(t, rebuilt(t, d)); !bytes.Equal(data, again) {
			t.Errorf("%s: %d bytes are others when the nodes are made anew", path, len(data))
		}
	}
}

func written(tb testing.TB, d *Dump) []byte {
	tb.Helper()
	var b bytes.Buffer
	if n, err := d.WriteTo(&b); err != nil || n != int64(b.Len()) {
		tb.Fatal(n, err)
	}
	return b.Bytes()
}

// rebuilt sets all nodes anew, in the order in which they are in the file.
func rebuilt(tb testing.TB, d *Dump) *Dump {
	tb.Helper()
	b := NewBuilder(d.Nodes())
	for i, typ := range d.Types[1:] {
		b.Type(typ.Name.Value, typ.Module.Value)
		if !d.Tool.Valid { // of old files the sizes of types are not those of their first nodes
			b.d.Types[i+1].Size, b.sized[i+1] = typ.Size, true
		}
	}
	nodes := make([]int, d.Nodes())
	for i := range nodes {
		nodes[i] = i
	}
	slices.SortFunc(nodes, func(x, y int) int { return int(d.offsets[x]) - int(d.offsets[y]) })
	for _, i := range nodes {
		if !d.Undefined(i) {
			n := d.Node(i)
			b.Set(i, n.Type, d.Addresses[i], n.Size, n.Children)
		}
	}
	made, err := b.Dump(d.Root)
	if err != nil {
		tb.Fatal(err)
	}
	again := *d
	again.Types, again.blob, again.offsets, again.TotalSize = made.Types, made.blob, made.offsets, made.TotalSize
	return &again
}

func TestBaseline(t *testing.T) {
	var base struct {
		Graph struct {
			NumNodes  int   `xml:",attr"`
			NumTypes  int   `xml:",attr"`
			TotalSize int64 `xml:",attr"`
			Types     []struct {
				Index int    `xml:",attr"`
				Name  string `xml:",attr"`
			} `xml:"NodeTypes>NodeType"`
		} `xml:"MemoryGraph"`
		ProcessName, MachineName string
	}
	path := corpus.File(t, "recordings", "gcdump", "test1_baseline.gcdump.xml.gz")
	if err := xml.Unmarshal(testio.Unpacked(t, path), &base); err != nil {
		t.Fatal(err)
	}
	d, err := Read(testio.Unpacked(t, filepath.Join(filepath.Dir(path), "test1.gcdump.gz")))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(base.Graph.NumNodes, base.Graph.NumTypes, base.Graph.TotalSize, base.MachineName, base.ProcessName)
	got := fmt.Sprint(d.Nodes(), len(d.Types), d.TotalSize, d.Machine.Value, d.Process.Value)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(base.Graph.Types) == 0 {
		t.Fatal("the baseline has no types")
	}
	for _, typ := range base.Graph.Types {
		if got := d.Types[typ.Index].Name.Value; got != typ.Name {
			t.Errorf("type %d is %q, want %q", typ.Index, got, typ.Name)
		}
	}
	sum := int64(0)
	for i := range d.Nodes() {
		sum += d.Node(i).Size
	}
	if sum != d.TotalSize {
		t.Errorf("nodes have %d bytes, of %d in all", sum, d.TotalSize)
	}
}

// small returns a dump in which all is that a file can have.
func small(tb testing.TB) *Dump {
	tb.Helper()
	b := NewBuilder(6)
	roots, statics, field := b.Type("[.NET Roots]", ""), b.Type("[static vars]", ""), b.Type("[static var Shop.all]", "")
	list, text := b.Type("Shop.List", "shop.dll"), b.Type("System.String", "")
	b.Set(0, roots, 0, 0, []int{1})
	b.Set(1, statics, 0, 0, []int{2})
	b.Set(2, field, 0, 0, []int{3})
	b.Set(3, list, 0x1000, 24, []int{4, 3, 5})
	b.Set(4, text, 0x2000, 40, nil)
	b.Set(5, text, 0x3000, 1<<40, []int{4})
	d, err := b.Dump(0)
	if err != nil {
		tb.Fatal(err)
	}
	d.JavaScript = true
	d.DotNet = &DotNet{100, []Segment{{1, 2, [5]int64{3, 4, 5, 6, 7}}, {8, 9, [5]int64{}}}}
	d.Log, d.Machine, d.Process, d.ProcessID, d.Ticks = Text{"", true}, Text{"host", true}, Text{"shop", true}, 7, 5e17
	d.TypeMultipliers = []float32{1, 2}
	d.Interop = &Interop{2, [3]int32{1, 1, 1}, make([]byte, 40+32+33), []InteropModule{{1, 2, 3, Text{"a.dll", true}}}}
	d.Tool = Text{"shop", true}
	return d
}

func TestAllParts(t *testing.T) {
	want := small(t)
	data := written(t, want)
	got, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, written(t, got)) {
		t.Error("other bytes")
	}
	if got.Node(5).Size != 1<<31-1 || got.Node(3).Size != 24 || got.TotalSize != 24+40+1<<31-1 {
		t.Errorf("sizes %d, %d, %d", got.Node(5).Size, got.Node(3).Size, got.TotalSize)
	}
	for _, x := range []struct{ want, got any }{{want.DotNet, got.DotNet}, {want.Interop, got.Interop}, {want.Log, got.Log}, {want.Types, got.Types},
		{want.Addresses, got.Addresses}, {want.TypeMultipliers, got.TypeMultipliers}, {[]int{4, 3, 5}, got.Node(3).Children}} {
		if diff := cmp.Diff(x.want, x.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 8191, 8192, -8192, -8193, 1<<20 - 1, 1 << 20, 1<<27 - 1, 1 << 27, -1 << 27, 1<<31 - 1, -1 << 31} {
		b := appendCint(nil, v)
		c := cursor{b: b}
		if got := c.cint(); got != v || c.bad || c.at != len(b) {
			t.Errorf("%d is %d, as % x", v, got, b)
		}
	}
	if c := (cursor{b: []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0}}); c.cint() != 0 || !c.bad {
		t.Error("six groups are a number")
	}
}

// Every cut, and every changed byte, is an error with its place or a dump that can be used.
func TestDamaged(t *testing.T) {
	data := written(t, small(t))
	for n := range data {
		var damage *etw.Damage
		if _, err := Read(data[:n]); !errors.As(err, &damage) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
		for _, x := range []byte{0, 0x7f, 0x80, 0xff, data[n] ^ 1} {
			bad := bytes.Clone(data)
			bad[n] = x
			use(t, bad)
		}
	}
	if _, err := Read(append(data, 0)); err == nil {
		t.Error("a byte behind the end is no error")
	}
}

// A million nodes at one place with a million references would be more than memory holds.
func TestSharedPlace(t *testing.T) {
	const n = 1 << 16
	d := small(t)
	d.offsets, d.Addresses, d.Root = make([]int32, n), make([]uint64, n), 0
	d.blob = appendCint([]byte{0}, n)
	d.blob = append(d.blob, make([]byte, n)...)
	if _, err := Read(written(t, d)); err == nil {
		t.Error("no error")
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, set := range []func(*Builder){
		func(b *Builder) { b.Set(0, 9, 0, 0, nil) },
		func(b *Builder) { b.Set(0, 0, 0, 0, []int{1}) },
	} {
		b := NewBuilder(1)
		set(b)
		if _, err := b.Dump(0); err == nil {
			t.Error("no error")
		}
	}
	if _, err := NewBuilder(0).Dump(0); err == nil {
		t.Error("a root is not a node")
	}
}

// use reads data, and all that can be read of it.
func use(tb testing.TB, data []byte) {
	tb.Helper()
	d, err := Read(data)
	if err != nil {
		return
	}
	for i := range d.Nodes() {
		d.Node(i)
	}
	again, err := Read(written(tb, d))
	if err != nil || again.Nodes() != d.Nodes() {
		tb.Fatalf("what is written cannot be read: %v", err)
	}
	r := NewReader(d)
	objects := 0
	for rec := range testio.Records(tb, r.Records()) {
		if len(rec.Payload) > 2*batchSize+2*len(data) {
			tb.Fatalf("a record of %d bytes", len(rec.Payload))
		}
		objects++
	}
	if objects == 0 {
		tb.Fatal("no record")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, small(f)))
	f.Fuzz(func(t *testing.T, data []byte) { use(t, data) })
}
