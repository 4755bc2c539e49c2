package tlg_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/tests/corpus"
)

// list returns the events of a file with all that is known of them, in an order that does not
// depend on the linker.
func list(f *tlg.File) []string {
	var list []string
	for _, e := range f.Events {
		s := fmt.Sprintf("%s %d %d %#x %v", e.Desc.Name, e.Desc.Level, e.Desc.Opcode, e.Desc.Keywords, e.Desc.Fields)
		for _, p := range e.Owners {
			s += fmt.Sprint(" ", p.Name, p.GUID, p.Group)
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// TestBuilds: builds of one program for two machines have the same events, of the same
// providers.
func TestBuilds(t *testing.T) {
	for _, path := range corpus.Glob(t, "tracelogging-pe", "*-x64.*.gz") {
		a := read(t, testio.Unpacked(t, path))
		other := strings.Replace(path, "-x64.", "-arm64.", 1)
		b := read(t, testio.Unpacked(t, other))
		if x, y := list(a), list(b); !slices.Equal(x, y) {
			t.Errorf("%s has %d events, and %s %d", path, len(x), other, len(y))
			for i := range min(len(x), len(y)) {
				if x[i] != y[i] {
					t.Errorf("first difference:\n%s\n%s", x[i], y[i])
					break
				}
			}
		}
	}
}

// TestBounds holds where metadata lie against the map that the linker of Microsoft writes into
// programs: of the parts of the region, which only the letters are in.
func TestBounds(t *testing.T) {
	for _, path := range corpus.Glob(t, "tracelogging-pe", "*.gz") {
		data := testio.Unpacked(t, path)
		f := read(t, data)
		checkRegions(t, f)
		image, err := ecma335.ParseImage(data)
		if err != nil {
			t.Fatal(err)
		}
		parts := pogo(image)
		if len(parts) != 4 || len(f.Regions) != 1 || len(f.Damage) > 0 {
			t.Fatalf("%s: %d parts, regions %+v, %v", path, len(parts), f.Regions, f.Damage)
		}
		g := f.Regions[0]
		total := int64(0)
		for _, p := range parts {
			total += int64(p.Size)
		}
		// Behind the end there are zeros.
		if g.Size > total || total-g.Size > 8 || bytes.ContainsFunc(data[g.Offset+g.Size:g.Offset+total], func(r rune) bool { return r != 0 }) {
			t.Errorf("%s: the region has %d bytes, by the linker %d", path, g.Size, total)
		}
		inside := func(name string, offset int64) bool {
			at, p := uint64(offset-g.Offset)+uint64(parts["0"].RVA), parts[name]
			return at >= uint64(p.RVA) && at < uint64(p.RVA)+uint64(p.Size)
		}
		for _, e := range f.Events {
			if !inside("1", e.Offset) {
				t.Errorf("%s: event %s lies elsewhere", path, e.Desc.Name)
			}
		}
		for _, p := range f.Providers {
			if !inside("2", p.Offset) {
				t.Errorf("%s: provider %s lies elsewhere", path, p.Name)
			}
		}
	}
}

// pogo returns the parts of the region by the linker's map.
func pogo(image *ecma335.Image) map[string]ecma335.Directory {
	const typePogo = 13
	parts := make(map[string]ecma335.Directory)
	for _, e := range image.Debug() {
		if e.Type != typePogo {
			continue
		}
		for b := e.Data[4:]; len(b) > 8; {
			name, _, _ := strings.Cut(string(b[8:]), "\x00")
			if n, ok := strings.CutPrefix(name, ".rdata$zETW"); ok {
				parts[n] = ecma335.Directory{RVA: binary.LittleEndian.Uint32(b), Size: binary.LittleEndian.Uint32(b[4:])}
			}
			b = b[min(len(b), (8+len(name)+4)&^3):]
		}
	}
	return parts
}
