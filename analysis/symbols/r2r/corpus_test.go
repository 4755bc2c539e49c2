package r2r_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

func parse(t testing.TB, path string) *r2r.Image {
	t.Helper()
	data := testio.Read(t, path)
	x, err := r2r.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	return x
}

// TestRundown holds the methods of images against the runtime's own account: address, length
// and name of each.
func TestRundown(t *testing.T) {
	for _, path := range corpus.Glob(t, "r2r", "*.tsv.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".tsv.gz")
		t.Run(name, func(t *testing.T) {
			dll := filepath.Join(filepath.Dir(path), "..", "assemblies", name+".dll")
			if _, err := os.Stat(dll); err != nil {
				t.Skip("its image is not in the corpus")
			}
			x := parse(t, dll)
			rows, wrong := 0, 0
			for line := range lines(t, path) {
				rows++
				f := strings.Split(line, "\t")
				rva, _ := strconv.ParseUint(f[0], 16, 32)
				m, ok := x.Lookup(uint32(rva))
				var got string
				if ok {
					n := m.Name()
					got = strings.Join([]string{strconv.FormatUint(uint64(m.Start()), 16), strconv.Itoa(int(m.Size())), n.Namespace, n.Method, n.Signature}, "\t")
				}
				if got != line {
					if wrong++; wrong <= 10 {
						t.Errorf("\nthe runtime says %q\nthe image says   %q", line, got)
					}
				}
			}
			t.Logf("%d of %d rows equal; the image has %d methods", rows-wrong, rows, x.Len())
			if rows == 0 {
				t.Error("no rows")
			}
		})
	}
}

// BenchmarkParse opens the largest image, with the code of .NET itself.
func BenchmarkParse(b *testing.B) {
	data := testio.Read(b, corpus.File(b, "assemblies", "System.Private.CoreLib.dll"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r2r.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLookup looks for addresses all over it.
func BenchmarkLookup(b *testing.B) {
	x := parse(b, corpus.File(b, "assemblies", "System.Private.CoreLib.dll"))
	first, last := x.Method(0).Start(), x.Method(x.Len()-1).Start()
	rva := first
	for b.Loop() {
		x.Lookup(rva)
		if rva += 0x1234567; rva > last || rva < first {
			rva = first + rva%(last-first)
		}
	}
}

func lines(t *testing.T, path string) func(func(string) bool) {
	return func(yield func(string) bool) {
		f := testio.File(t, path)
		defer f.Close()
		var s *bufio.Scanner
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			s = bufio.NewScanner(z)
		} else {
			s = bufio.NewScanner(f)
		}
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
	}
}

// TestCompilerMaps holds the methods of images for eight targets against the maps that the
// compiler wrote: the same pieces of code, at the same places.
func TestCompilerMaps(t *testing.T) {
	for _, path := range corpus.Glob(t, "r2r", "small", "*", "*.r2rmap") {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			image := "Shapes.dll"
			if filepath.Base(dir) == "composite" {
				image = "all.r2r.dll"
			}
			x := parse(t, filepath.Join(dir, image))
			for _, c := range x.Components() {
				data := testio.Read(t, filepath.Join(dir, c+".dll"))
				if err := x.Attach(c, data); err != nil {
					t.Fatal(err)
				}
			}
			compareMap(t, x, path, strings.Contains(dir, "arm64"))
		})
	}
}

func compareMap(t *testing.T, x *r2r.Image, path string, constantsBehind bool) {
	said := 0
	for line := range lines(t, path) {
		f := strings.SplitN(line, " ", 3)
		rva, err := strconv.ParseUint(f[0], 16, 32)
		if err != nil || rva >= 0xfffffff0 {
			continue
		}
		size, _ := strconv.ParseUint(f[1], 16, 32)
		said++
		m, ok := x.Lookup(uint32(rva))
		n := m.Name
		if !ok || m.Start() != uint32(rva) || m.Cold() {
			t.Errorf("the compiler has %s, the image nothing", line)
			continue
		}
		// Behind code for ARM64 may be constants, which the compiler counts.
		if m.Size() != uint32(size) && (!constantsBehind || m.Size() > uint32(size)) {
			t.Errorf("the compiler has %s, the image %d bytes", line, m.Size())
		}
		if want := n().Namespace + "::" + n().Method; !strings.Contains(strings.ReplaceAll(f[2], ", ", ","), want) {
			t.Errorf("the compiler has %s, the image %s", line, want)
		}
	}
	hot := 0
	for i := range x.Len() {
		if m := x.Method(i); !m.Cold() {
			hot++
		}
	}
	t.Logf("%d of the compiler, %d of the image, of which %d are not cold", said, x.Len(), hot)
	if said != hot || said == 0 {
		t.Errorf("the compiler has %d methods, the image %d", said, hot)
	}
}

// TestDamaged reads images in which a few bytes are wrong: some are refused, and none does
// harm.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for _, path := range corpus.Glob(t, "r2r", "small", "*", "*.dll") {
		whole := testio.Read(t, path)
		for range 100 {
			b := bytes.Clone(whole)
			for range 1 + random.IntN(30) {
				b[random.IntN(len(b))] = byte(random.Uint32())
			}
			if x, err := r2r.Parse(b); err == nil {
				visit(x)
				read++
			}
		}
	}
	t.Logf("%d could be read", read)
}
