package ecma335_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, data []byte) (*ecma335.Image, *ecma335.Metadata) {
	t.Helper()
	f, err := ecma335.ParseImage(data)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Metadata()
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

// TestRows reads rows of several tables of a small assembly.
func TestRows(t *testing.T) {
	f, m := parse(t, ecma335test.Shop())
	orders, keywords := ecma335.MakeToken(ecma335.TypeDef, 2), ecma335.MakeToken(ecma335.TypeDef, 3)
	if got := m.TypeName(orders); got != "Shop.Orders" {
		t.Errorf("type 2 is %q", got)
	}
	if got := m.TypeName(keywords); got != "Shop.Orders+Keywords" || m.Encloser(keywords) != orders {
		t.Errorf("type 3 is %q", got)
	}
	if got := m.TypeName(m.Type(2).Extends); got != "System.Diagnostics.Tracing.EventSource" {
		t.Errorf("type 2 extends %q", got)
	}
	var names []string
	for row := range m.List(ecma335.TypeDef, 2, ecma335.TypeDefMethods) {
		names = append(names, m.Method(row).Name)
		if owner := m.Owner(ecma335.TypeDef, ecma335.TypeDefMethods, row); owner != 2 {
			t.Errorf("method %d is of type %d", row, owner)
		}
	}
	if diff := cmp.Diff([]string{".ctor", "Placed", "Weighed", "Sorted", "ShipStart", "ShipStop", "set_Level"}, names); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"item", "price", ""}, m.ParamNames(2, 3)); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	c, ok := m.Constant(ecma335.MakeToken(ecma335.Field, 1))
	if v, isInt := c.Int(); !ok || !isInt || v != 4 {
		t.Errorf("constant %v %v", v, ok)
	}
	body, ok := f.Body(m.Method(1).RVA)
	if !ok {
		t.Fatal("the constructor has no code")
	}
	in, ok := body.Instruction(1)
	text, isText := m.UserString(ecma335.Token(in.Arg))
	if !ok || in.Op != 0x72 || !isText || text != "Shop-Orders" {
		t.Errorf("instruction %+v, text %q", in, text)
	}
}

// TestAttributes reads attributes.
func TestAttributes(t *testing.T) {
	_, m := parse(t, ecma335test.Shop())
	n := 0
	for a := range m.Attributes(ecma335.MakeToken(ecma335.MethodDef, 2)) {
		n++
		_, name, signature := m.MethodOf(a.Constructor)
		sig, ok := ecma335.MethodSignature(signature)
		if !ok || name != ".ctor" {
			t.Fatalf("constructor %q %v", name, sig)
		}
		got, ok := ecma335.ParseAttribute(a.Value, sig, func(string, ecma335.Token) int { return 8 })
		want := &ecma335.Attribute{Fixed: []any{int64(1)}, Named: []ecma335.Named{{Name: "Keywords", Value: int64(4)}, {Name: "Message", Value: "{0} for {1}"}}}
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%t (-want +got):\n%s", ok, diff)
		}
	}
	if n != 1 {
		t.Errorf("%d attributes", n)
	}
}

// TestUnsorted finds rows of a table that is not in the order in which it has to be.
func TestUnsorted(t *testing.T) {
	b := ecma335test.NewBuilder()
	for _, outer := range []uint16{3, 1, 2, 1} {
		b.Row(ecma335.NestedClass, uint16(9), outer)
	}
	m, err := ecma335.ParseMetadata(b.Metadata())
	if err != nil {
		t.Fatal(err)
	}
	for outer, want := range map[uint32][]uint32{1: {2, 4}, 2: {3}, 3: {1}, 4: nil} {
		if got := slices.Collect(m.Find(ecma335.NestedClass, 1, outer)); !slices.Equal(got, want) {
			t.Errorf("rows with %d: %v, want %v", outer, got, want)
		}
	}
}

// TestCompressed reads numbers of each width, and invalid ones.
func TestCompressed(t *testing.T) {
	for _, test := range []struct {
		bytes    []byte
		unsigned uint32
		signed   int32
		ok       bool
	}{
		{[]byte{0x03}, 3, -63, true}, {[]byte{0x7f}, 0x7f, -1, true}, {[]byte{0x80, 0x80}, 0x80, 64, true},
		{[]byte{0xae, 0x57}, 0x2e57, -2261, true}, {[]byte{0xbf, 0xff}, 0x3fff, -1, true},
		{[]byte{0xc0, 0x00, 0x40, 0x00}, 0x4000, 8192, true}, {[]byte{0xdf, 0xff, 0xff, 0xff}, 0x1fffffff, -1, true},
		{[]byte{0xff}, 0, 0, false}, {[]byte{0x80}, 0x80, 0, false}, {[]byte{0xc0, 1, 2}, 0, 0, false}, {nil, 0, 0, false},
	} {
		c := ecma335.NewCursor(test.bytes)
		v := c.Uint()
		if c.Failed() == test.ok || test.ok && v != test.unsigned {
			t.Errorf("%x is %#x, failed %t", test.bytes, v, c.Failed())
		}
		c = ecma335.NewCursor(test.bytes)
		if s := c.Int(); test.ok && s != test.signed {
			t.Errorf("%x is %d with a sign, want %d", test.bytes, s, test.signed)
		}
	}
}

// TestDeepSignature refuses a signature that nests without end.
func TestDeepSignature(t *testing.T) {
	deep := append(bytes.Repeat([]byte{0x1d}, 1<<16), 0x08)
	if _, ok := ecma335.TypeSignature(deep); ok {
		t.Error("an array of 65536 dimensions of arrays is a type")
	}
	if typ, ok := ecma335.TypeSignature(deep[len(deep)-51:]); !ok || typ.Kind != ecma335.SZArray {
		t.Error("an array of 50 is none")
	}
}

// TestRefused holds the errors of files that are something else.
func TestRefused(t *testing.T) {
	whole := ecma335test.Shop()
	if _, err := ecma335.ParseImage([]byte("no image")); !errors.Is(err, ecma335.ErrNotImage) {
		t.Error(err)
	}
	native := slices.Clone(whole)
	for i := range 8 {
		native[0x40+24+96+14*8+i] = 0
	}
	f, err := ecma335.ParseImage(native)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Metadata(); !errors.Is(err, ecma335.ErrNotManaged) {
		t.Error(err)
	}
	b := ecma335test.NewBuilder()
	b.Row(ecma335.Module, uint16(0), "x", uint16(0), uint16(0), uint16(0))
	root := b.Metadata()
	for n := range root {
		if _, err := ecma335.ParseMetadata(root[:n:n]); err == nil && n < len(root)-4 {
			t.Errorf("metadata cut off at %d of %d is read", n, len(root))
		}
	}
}

func FuzzImage(f *testing.F) {
	f.Add(ecma335test.Shop())
	f.Fuzz(func(t *testing.T, data []byte) {
		image, err := ecma335.ParseImage(data)
		if err != nil {
			if m, err := ecma335.ParseMetadata(data); err == nil {
				readAll(nil, m)
			}
			return
		}
		image.Debug()
		if m, err := image.Metadata(); err == nil {
			readAll(image, m)
		}
	})
}

// readAll follows all parts, up to a bound.
func readAll(f *ecma335.Image, m *ecma335.Metadata) {
	const most = 200
	for row := uint32(1); row <= min(most, m.Rows(ecma335.TypeDef)); row++ {
		m.TypeName(ecma335.MakeToken(ecma335.TypeDef, row))
		left := most
		for method := range m.List(ecma335.TypeDef, row, ecma335.TypeDefMethods) {
			if left--; left < 0 {
				break
			}
			r := m.Method(method)
			sig, ok := ecma335.MethodSignature(r.Signature)
			if ok {
				m.ParamNames(method, len(sig.Params))
			}
			for a := range m.Attributes(r.Token) {
				m.MethodOf(a.Constructor)
				if ok {
					ecma335.ParseAttribute(a.Value, sig, func(string, ecma335.Token) int { return 4 })
				}
			}
			if f == nil {
				continue
			}
			body, _ := f.Body(r.RVA)
			for at := 0; ; {
				in, ok := body.Instruction(at)
				if !ok {
					break
				}
				at = in.Next
				if in.Op == 0x45 && in.Arg > 0 {
					body.Target(in, int(in.Arg)-1)
				}
			}
		}
	}
	for row := uint32(1); row <= min(most, m.Rows(ecma335.TypeSpec)); row++ {
		ecma335.TypeSignature(m.Blob(m.Cell(ecma335.TypeSpec, row, 0)))
	}
}
