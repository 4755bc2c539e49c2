package tlg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// owned lists the events of a file with their owners.
func owned(f *tlg.File) string {
	var list []string
	for _, e := range f.Events {
		var names []string
		for _, p := range e.Owners {
			names = append(names, p.Name)
		}
		list = append(list, e.Desc.Name+":"+strings.Join(names, "|"))
	}
	return strings.Join(list, " ")
}

func read(t *testing.T, b []byte) *tlg.File {
	t.Helper()
	f, err := tlg.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkRegions holds the counts of a file against its bytes.
func checkRegions(t *testing.T, f *tlg.File) {
	t.Helper()
	for _, g := range f.Regions {
		if g.Header+g.Events+g.Providers+g.Padding+g.End != g.Size {
			t.Errorf("not all bytes of a region are accounted for: %+v", g)
		}
	}
}

// TestRead reads all that metadata say.
func TestRead(t *testing.T) {
	im, _, _, _ := tlgtest.Program(tlgtest.X64)
	f := read(t, im.Bytes())
	if len(f.Damage) > 0 || len(f.Regions) != 1 || f.Regions[0].Size != int64(len(im.Data)) || f.Regions[0].Padding != 2 {
		t.Errorf("%+v, %v", f.Regions, f.Damage)
	}
	checkRegions(t, f)
	if p := f.Providers; len(p) != 2 || p[0].Name != "Shop" || p[0].GUID != (etw.GUID{1}) || !p[0].Group.IsZero() || p[1].Group != (etw.GUID{9}) {
		t.Errorf("%+v", p)
	}
	d := f.Events[0].Desc
	if d.Name != "Sold" || !d.Named || d.Level != 4 || d.Keywords != 1 || d.Channel != 11 || len(d.Fields) != 1 || d.Fields[0].Type != etw.InUInt32 {
		t.Errorf("%+v", d)
	}
	if got := owned(f); got != "Sold:Shop|Kitchen Cooked:Shop|Kitchen Opened:Shop|Kitchen" {
		t.Errorf("without code, the owners are %s", got)
	}
}

// TestOneProvider: all events are those of the only one, on any machine.
func TestOneProvider(t *testing.T) {
	im := &tlgtest.Image{Machine: 0x14c, Data: slices.Concat(tlgtest.Head(), tlgtest.Provider("Shop", etw.GUID{1}, etw.GUID{}), tlgtest.Event("Sold", 4, 0), []byte{1})}
	if got := owned(read(t, im.Bytes())); got != "Sold:Shop" {
		t.Error(got)
	}
}

// TestOwners: an event is of the provider that the function with it refers to.
func TestOwners(t *testing.T) {
	for _, machine := range []uint16{tlgtest.X64, tlgtest.ARM64} {
		im, a, b, c := tlgtest.Program(machine)
		var functions [][2]uint32
		add := func(to ...uint32) {
			begin, end := im.Function(to...)
			functions = append(functions, [2]uint32{begin, end})
		}
		add(tlgtest.VarsAt, a+1)                                                            // by the handle
		add(b+12, tlgtest.VarsAt+128)                                                       // by a pointer to it
		add(c, tlgtest.VarsAt, c+1)                                                         // one function says the one,
		add(tlgtest.VarsAt+64, c+12)                                                        // another the other
		add(tlgtest.VarsAt + 64)                                                            // says nothing
		im.Code = append(im.Code, tlgtest.LEA(tlgtest.CodeAt+uint32(len(im.Code)), a+1)...) // outside of functions
		im.Unwinding(functions...)
		f := read(t, im.Bytes())
		if got := owned(f); got != "Sold:Shop Cooked:Kitchen Opened:Shop|Kitchen" {
			t.Errorf("machine %x: %s", machine, got)
		}
		var groups []string
		for _, g := range f.Groups() {
			groups = append(groups, fmt.Sprintf("%d of %d: %s", len(g.Events), len(g.Owners), g.Events[0].Desc.Name))
		}
		if got := strings.Join(groups, " "); got != "1 of 1: Sold 1 of 1: Cooked 1 of 2: Opened" {
			t.Errorf("groups: %s", got)
		}
	}
}

// TestPieces: the pieces of a function belong together.
func TestPieces(t *testing.T) {
	for _, machine := range []uint16{tlgtest.X64, tlgtest.ARM64} {
		im, a, b, _ := tlgtest.Program(machine)
		begin, _ := im.Function(tlgtest.VarsAt, tlgtest.VarsAt)
		end := tlgtest.CodeAt + uint32(len(im.Code))
		im.Code = append(im.Code, map[uint16]func(at, to uint32) []byte{tlgtest.X64: tlgtest.LEA, tlgtest.ARM64: tlgtest.ADR}[machine](end, a+1)...)
		rest := tlgtest.CodeAt + uint32(len(im.Code))
		other, last := im.Function(b+1, tlgtest.VarsAt+64)
		im.Unwinding([2]uint32{begin, end}, [2]uint32{end, rest}, [2]uint32{other, last})
		size := im.Table / 3
		info := tlgtest.UnwindAt + uint32(im.Table)
		if machine == tlgtest.X64 {
			binary.LittleEndian.PutUint32(im.Unwind[size+8:], info)
			im.Unwind = append(im.Unwind, 1|4<<3, 0, 1, 0, 0, 0, 0, 0) // one code, and one to fill up
			im.Unwind = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(im.Unwind, begin), end), info+64)
			im.Unwind = append(im.Unwind, make([]byte, 64)...)
		} else {
			binary.LittleEndian.PutUint32(im.Unwind[size+4:], info)
			im.Unwind = binary.LittleEndian.AppendUint32(im.Unwind, (rest-end)/4|1<<21|1<<27)
			im.Unwind = append(im.Unwind, 0xc8, 0, 0xe5, 0xe4)
		}
		if got := owned(read(t, im.Bytes())); !strings.HasPrefix(got, "Sold:Shop Cooked:Kitchen ") {
			t.Errorf("machine %x: %s", machine, got)
		}
	}
}

// TestDamage: a malformed part is reported with its place, and the rest is there.
func TestDamage(t *testing.T) {
	good, shop := tlgtest.Event("Sold", 4, 0), tlgtest.Provider("Shop", etw.GUID{1}, etw.GUID{})
	end := []byte{1}
	for _, tt := range []struct {
		name, says        string
		events, providers int
		blobs             [][]byte
	}{
		{"no end", "goes on where its section ends", 1, 1, [][]byte{shop, good}},
		{"unknown", "unknown kind 5", 1, 1, [][]byte{shop, good, {5, 1, 2}, good, end}},
		{"empty event", "metadata have 2 bytes", 1, 1, [][]byte{shop, good, append(make([]byte, 0, 14), 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0), end}},
		{"long event", "metadata have 255 bytes", 0, 1, [][]byte{shop, {6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0}, end}},
		{"cut event", "end with the section", 0, 1, [][]byte{shop, {6, 0, 0}}},
		{"cut size", "end with the section", 0, 1, [][]byte{shop, {6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255}}},
		{"fields", "its fields are malformed", 1, 1, [][]byte{shop, append([]byte{6, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, tlgtest.Sized([]byte("\x00Bad"))...), good, end}},
		{"name", "its name has no end", 1, 1, [][]byte{append(make([]byte, 0, 30), append([]byte{2}, tlgtest.Sized([]byte("Bad"))...)...), shop, good, end}},
		{"traits", "traits: metadata have 9 bytes", 1, 1, [][]byte{append([]byte{2}, tlgtest.Sized([]byte("Old\x00\x09\x00"))...), good, end}},
		{"cut provider", "end with the section", 1, 0, [][]byte{good, {4, 1, 2}}},
	} {
		im := &tlgtest.Image{Machine: tlgtest.X64, Data: slices.Concat(append([][]byte{tlgtest.Head()}, tt.blobs...)...)}
		f := read(t, im.Bytes())
		if len(f.Damage) == 0 || !strings.Contains(f.Damage[0].Error(), tt.says) || !strings.HasPrefix(f.Damage[0].Error(), "offset 0x20") {
			t.Errorf("%s: %v", tt.name, f.Damage)
		}
		if len(f.Events) != tt.events || len(f.Providers) != tt.providers {
			t.Errorf("%s: %d events, %d providers", tt.name, len(f.Events), len(f.Providers))
		}
		checkRegions(t, f)
	}
}

// TestRegions: the letters alone are no region, two regions are two, and too many are said.
func TestRegions(t *testing.T) {
	one := slices.Concat(tlgtest.Head(), tlgtest.Event("Sold", 4, 0), []byte{1})
	im := &tlgtest.Image{Machine: tlgtest.X64, Data: slices.Concat([]byte("ETW0\x10\x00\x00 letters alone"), one, []byte("between"), one)}
	if f := read(t, im.Bytes()); len(f.Regions) != 2 || len(f.Events) != 2 || len(f.Damage) > 0 {
		t.Errorf("%+v, %v", f.Regions, f.Damage)
	}
	many := append(im.Bytes(), slices.Repeat(one, 300)...) // behind all sections
	f := read(t, many)
	if len(f.Regions) != 256 || len(f.Damage) != 1 || !strings.Contains(f.Damage[0].Error(), "more than 256 regions") {
		t.Errorf("%d regions, %v", len(f.Regions), f.Damage)
	}
}

// TestBoundsOfNumbers: a file of nothing but events or providers is not read to its end.
func TestBoundsOfNumbers(t *testing.T) {
	for says, blob := range map[string][]byte{
		"event: there are more than 65536": tlgtest.Event("E", 0, 0), "provider: there are more than 1024": tlgtest.Provider("P", etw.GUID{}, etw.GUID{}),
	} {
		im := &tlgtest.Image{Machine: tlgtest.X64}
		data := append(append(im.Bytes(), tlgtest.Head()...), bytes.Repeat(blob, 70000)...)
		f := read(t, data)
		if len(f.Damage) != 1 || !strings.Contains(f.Damage[0].Error(), says) || len(f.Events)+len(f.Providers) > 65536 {
			t.Errorf("%d events, %d providers, %v", len(f.Events), len(f.Providers), f.Damage)
		}
	}
}

// TestNone: files without events are told from those that are no programs.
func TestNone(t *testing.T) {
	im := &tlgtest.Image{Machine: tlgtest.X64, Data: append(tlgtest.Head(), 1)}
	if _, err := tlg.Read(im.Bytes()); !errors.Is(err, tlg.ErrNone) {
		t.Error(err)
	}
	im.Data = tlgtest.Head()
	if _, err := tlg.Read(im.Bytes()); !errors.Is(err, tlg.ErrNone) || !strings.Contains(err.Error(), "section ends") {
		t.Error(err)
	}
	if _, err := tlg.Read([]byte("no program")); err == nil || errors.Is(err, tlg.ErrNone) {
		t.Error(err)
	}
}
