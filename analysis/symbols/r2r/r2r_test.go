package r2r_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/symbols/r2r"
)

func TestLookup(t *testing.T) {
	x, err := r2r.Parse(image())
	if err != nil {
		t.Fatal(err)
	}
	const arguments = "instance void  (int32,class Flour.Bread)"
	bake := r2r.Name{Namespace: `Bakery.Oven` + "`1" + `+Ra\,ck`, Method: "Bake", Signature: arguments, Arguments: "(int32,class Flour.Bread)"}
	sell := bake
	sell.Method = "Sell"
	heat := r2r.Name{Namespace: "Bakery.Oven`1[System.Int32,System.__Canon]", Method: "Heat", Signature: "class System.String[]  (!0)", Arguments: "(!0)"}
	for _, test := range []struct {
		rva         uint32
		start, size uint32
		want        r2r.Name
	}{
		{testCode - 1, 0, 0, r2r.Name{}},
		{testCode, testCode, 0x31, bake},
		{testCode + 0x30, testCode, 0x31, bake}, // in a handler
		{testCode + 0x31, 0, 0, r2r.Name{}},
		{testCode + 0x47, testCode + 0x40, 8, sell},
		{testCode + 0x48, 0, 0, r2r.Name{}},
		{testCode + 0x50, testCode + 0x50, 0x10, heat},
		{testCode + 0x60, 0, 0, r2r.Name{}},
	} {
		m, ok := x.Lookup(test.rva)
		if ok != (test.size > 0) {
			t.Errorf("%#x: found %v", test.rva, ok)
			continue
		}
		if !ok {
			continue
		}
		if m.Start() != test.start || m.Size() != test.size || m.Cold() {
			t.Errorf("%#x: %#x of %#x bytes, cold %v", test.rva, m.Start(), m.Size(), m.Cold())
		}
		if diff := cmp.Diff(test.want, m.Name()); diff != "" {
			t.Errorf("%#x (-want +got):\n%s", test.rva, diff)
		}
	}
	if rva, ok := x.RVA(testOffset + 0x10); !ok || rva != testRVA+0x10 {
		t.Errorf("offset %#x is at %#x, %v", testOffset+0x10, rva, ok)
	}
	if _, ok := x.RVA(testOffset - 1); ok {
		t.Error("the head of the file is in a section")
	}
}

// TestNoImage reads other data than images, and images that end at any place.
func TestNoImage(t *testing.T) {
	if _, err := r2r.Parse([]byte("#!/bin/sh")); !errors.Is(err, r2r.ErrNoCode) {
		t.Errorf("a script: %v", err)
	}
	whole := image()
	for n := range whole {
		x, err := r2r.Parse(whole[:n])
		if err == nil {
			visit(x)
		}
	}
	for n := range whole { // and with any byte wrong
		b := bytes.Clone(whole)
		b[n] ^= 0xff
		if x, err := r2r.Parse(b); err == nil {
			visit(x)
		}
	}
}

// visit asks for all that an image has.
func visit(x *r2r.Image) {
	x.PDBs()
	x.Components()
	for i := range min(x.Len(), 1000) {
		m := x.Method(i)
		m.Name()
		x.Lookup(m.Start())
		m.Assembly()
	}
}

func FuzzImage(f *testing.F) {
	f.Add(image())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := r2r.Parse(b)
		if err != nil {
			return
		}
		visit(x)
		if x.Len() > len(b) {
			t.Errorf("%d methods in %d bytes", x.Len(), len(b))
		}
	})
}

// bundle returns a program with two files inside, of which the second is compressed.
func bundle() []byte {
	b := make([]byte, 0x100)
	put := func(v any) { b, _ = binary.Append(b, binary.LittleEndian, v) }
	text := func(s string) { b = append(append(b, byte(len(s))), s...) }
	mark, _ := hex.DecodeString("8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae")
	manifest := uint64(len(b) + 8 + len(mark))
	put(manifest)
	b = append(b, mark...)
	put([]uint32{6, 0, 2})
	text("id")
	b = append(b, make([]byte, 40)...)
	put([]int64{0x40, 0x20, 0})
	b = append(b, 1)
	text("Bakery.dll")
	put([]int64{0x60, 0x2000, 0x10})
	b = append(b, 2)
	text("bakery.json")
	return b
}

func TestBundle(t *testing.T) {
	b := bundle()
	got, err := r2r.ReadBundle(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	want := []r2r.Bundled{
		{Path: "Bakery.dll", Offset: 0x40, Size: 0x20, Assembly: true},
		{Path: "bakery.json", Offset: 0x60, Size: 0x2000, Compressed: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n := range b {
		if _, err := r2r.ReadBundle(bytes.NewReader(b[:n]), int64(n)); err == nil {
			t.Errorf("the first %d bytes are no bundle", n)
		}
	}
}

// TestBundleFar finds a mark that is across the parts in which the file is read.
func TestBundleFar(t *testing.T) {
	for _, before := range []int{1<<20 - 0x120, 1<<20 - 0x108, 1<<20 - 0x100, 1 << 20} {
		b := append(make([]byte, before), bundle()...)
		at := before + 0x100
		binary.LittleEndian.PutUint64(b[at:], uint64(at+40))
		if got, err := r2r.ReadBundle(bytes.NewReader(b), int64(len(b))); err != nil || len(got) != 2 {
			t.Errorf("behind %#x bytes: %d files, %v", before, len(got), err)
		}
	}
}

func FuzzBundle(f *testing.F) {
	f.Add(bundle())
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := r2r.ReadBundle(bytes.NewReader(b), int64(len(b)))
		if err == nil && len(files) > len(b) {
			t.Errorf("%d files in %d bytes", len(files), len(b))
		}
	})
}

// TestThunk tells the code that looks for methods from methods.
func TestThunk(t *testing.T) {
	x, err := r2r.Parse(image())
	if err != nil {
		t.Fatal(err)
	}
	for rva, want := range map[uint32]bool{testCode: false, testCode + 0x6f: false, testCode + 0x70: true, testCode + 0x7f: true, testCode + 0x80: false} {
		if start, ok := x.Thunk(rva); ok != want || ok && start != testCode+0x70 {
			t.Errorf("at %#x: %#x, %v", rva, start, ok)
		}
	}
}

// TestIsMapped holds which pages of a file a section of an image inside is.
func TestIsMapped(t *testing.T) {
	data := image()
	const code = 0x20000000
	binary.LittleEndian.PutUint32(data[0x44+20+240+36:], code)
	x, err := r2r.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	pages := (0x10f80+testOffset+uint64(len(data))-testOffset+0xfff)&^0xfff - 0x11000
	for _, test := range []struct {
		at, from, size uint64
		want           bool
	}{{0x10f80, 0x11000, pages, true}, {0x10f80, 0x11000, pages + 0x1000, false}, {0x10f80, 0x10000, pages, false}, {0x10f80, 0x11001, pages, false}} {
		if got := x.IsMapped(test.at, test.from, test.size); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
