package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestLive names places in the memory of a process: in an image, and in one inside of a
// program. Files that are no images, absent, or outside of the process's root name nothing.
func TestLive(t *testing.T) {
	path := corpus.File(t, "r2r", "small", "linux-x64", "Shapes.dll")
	data, err := readFile(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := readImage(path)
	if err != nil {
		t.Fatal(err)
	}
	folder, outside := t.TempDir(), t.TempDir()
	program, at := bundleOf(data)
	write(t, data, folder, "Shapes.dll")
	write(t, program, folder, "shapes")
	write(t, []byte("MZ"), folder, "cut.dll")
	write(t, []byte("no code"), folder, "text")
	write(t, data, outside, "Shapes.dll")
	if err := os.Symlink(filepath.Join(outside, "Shapes.dll"), filepath.Join(folder, "link.dll")); err != nil {
		t.Skip(err)
	}
	file, err := ecma335.ParseImage(data)
	if err != nil {
		t.Fatal(err)
	}
	text := file.Sections[0]
	place := start(x, "Funclets") - uint64(text.VirtualAddress) + uint64(text.Offset) + 2 // in the file
	maps := "not an area\n3000-2000 r-xp zz fd:01 7 /x\n"
	for i, f := range []struct {
		name   string
		offset uint64
	}{{"/Shapes.dll", 0}, {"/shapes", at &^ 0xfff}, {"/cut.dll", 0}, {"/text", 0}, {"/link.dll", 0}, {"/gone.dll (deleted)", 0}, {"/../Shapes.dll", 0}} {
		from := uint64(i+1) << 32
		maps += fmt.Sprintf("%x-%x rw-p 0 fd:01 7 %s\n%x-%x r-xp %08x fd:01 7   %s\n", from-4096, from, f.name, from, from+uint64(len(program)), f.offset, f.name)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l, err := NewLive(strings.NewReader(maps), root)
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range []uint64{1<<32 + place, 2<<32 + place + at&0xfff} {
		if n, ok := l.Name(address); !ok || !strings.HasPrefix(n.Full(), "Shapes!Shapes.Kinds.Funclets(") || n.Offset != 2 || n.Tier != "ReadyToRun" {
			t.Errorf("%d: %+v", i, n)
		}
	}
	for i := range uint64(7) {
		if n, ok := l.Name((i+1)<<32 - 8); ok {
			t.Errorf("before %d: %+v", i, n)
		}
		if n, ok := l.Name((i+1)<<32 + place); ok && i != 0 && i != 1 {
			t.Errorf("%d: %+v", i, n)
		}
	}
	if _, ok := l.Name(0); ok {
		t.Error("the first page has a name")
	}
}

// TestLiveNative names functions of native code in memory. Of those without a name there is the
// place in the file, or the file, and of other files nothing.
func TestLiveNative(t *testing.T) {
	folder := t.TempDir()
	write(t, testELF(), folder, "shop")
	write(t, stripped("", 0), folder, "plain.so")
	write(t, testELF()[:100], folder, "cut.so")
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l, err := NewLive(strings.NewReader(`10000-11000 r-xp 00001000 fd:01 7 /shop
20000-21000 r-xp 00001000 fd:01 8 /plain.so
30000-31000 r-xp 00001000 fd:01 9 /cut.so
40000-41000 r-xp 00000000 00:00 0 [vdso]
`), root)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[uint64]string{0x10105: "shop!bake", 0x10205: "shop!sell", 0x10000: "shop!?", 0x20005: "plain.so!sub_1000", 0x30005: "?", 0x40005: "[vdso]!?"} {
		n, ok := l.Name(address)
		if named := want == "shop!bake" || want == "shop!sell"; n.Full() != want || ok != named || named && n.Offset != 5 {
			t.Errorf("%#x is %s: %+v", address, n.Full(), n)
		}
	}
}
