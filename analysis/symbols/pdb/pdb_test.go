package pdb_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

// small returns a PDB of an assembly with methods, of which each has the points that a blob
// says. The third moves the state machine of the fourth.
func small(methods int, points ...[]byte) []byte {
	p := ecma335test.PDB{ID: [20]byte(bytes.Repeat([]byte{7}, 20)), Folder: "src", Name: "Ä.cs", Hash: []byte{1, 2, 3}, Text: strings.Repeat("text ", 10),
		Methods: points, Assembly: methods, Machines: [][2]int{{3, 4}}}
	return p.Bytes()
}

const method1 = 0x06000001

func TestPoints(t *testing.T) {
	first := []byte{6, 0, 0, 14, 33, 9, 6, 0, 9, 2, 10, 2, 0, 0, 2, 0, 21, 0, 54}
	f, err := pdb.Open(small(5, first, []byte{0, 0, 0, 0}, []byte{0}, nil, []byte{0, 0, 0, 14, 1}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Points(method1)
	want := []pdb.Point{
		{IL: 0, Document: 1, Line: 33, Column: 9, EndLine: 33, EndColumn: 23},
		{IL: 6, Document: 1, Line: 34, Column: 14, EndLine: 34, EndColumn: 23},
		{IL: 8, Document: 1, Hidden: true},
		{IL: 10, Document: 1, Line: 34, Column: 41, EndLine: 34, EndColumn: 62},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("points: %v (-want +got):\n%s", err, diff)
	}
	for _, at := range []struct{ token, il, line int }{
		{method1, 0, 33}, {method1, 5, 33}, {method1, 6, 34}, {method1, 9, 34}, {method1, 1000, 34},
		{method1 + 1, 0, 0}, {method1 + 3, 0, 0}, {method1 + 9, 0, 0}, {0x2000001, 0, 0},
	} {
		if p, ok := f.At(uint32(at.token), at.il); p.Line != at.line || ok != (at.line > 0) {
			t.Errorf("%#x, IL %d: line %d, %v; want %d", at.token, at.il, p.Line, ok, at.line)
		}
	}
	if p, ok := f.First(method1); !ok || p.Line != 33 {
		t.Errorf("the first is %v", p)
	}
	if _, err := f.Points(method1 + 4); err == nil {
		t.Error("a blob that is cut is not refused")
	}
	if of, ok := f.Kickoff(method1 + 2); !ok || of != method1+3 {
		t.Errorf("the state machine is of %#x", of)
	}
	if _, ok := f.Kickoff(method1); ok {
		t.Error("a method is taken for a state machine")
	}
	if f.Methods() != 5 || f.Documents() != 1 {
		t.Errorf("%d methods, %d documents", f.Methods(), f.Documents())
	}
}

func TestDocument(t *testing.T) {
	f, err := pdb.Open(small(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	d := f.Document(1)
	if d.Name != "/src/Ä.cs" || d.Base() != "Ä.cs" || d.Algorithm != pdb.SHA256 || !bytes.Equal(d.Hash, []byte{1, 2, 3}) {
		t.Errorf("%+v", d)
	}
	text, ok, err := f.Source(1)
	if string(text) != strings.Repeat("text ", 10) || !ok || err != nil {
		t.Errorf("%q, %v, %v", text, ok, err)
	}
	if _, ok, _ := f.Source(2); ok || f.Document(2).Name != "" || f.Document(0).Name != "" {
		t.Error("there is a second document")
	}
}

// TestLink asks for the address of /src/Ä.cs by lists that are right, and by others.
func TestLink(t *testing.T) {
	const at = "https://a.example/"
	for links, want := range map[string]string{
		`{"documents":{"/src/*":"https://a.example/x/*"}}`:                                         at + "x/%C3%84.cs",
		`{"documents":{"/SRC/*":"https://a.example/*?v=1"}}`:                                       at + "%C3%84.cs?v=1",
		`{"documents":{"/*":"https://a.example/1/*","/src/*":"https://a.example/2/*","/s*":"x*"}}`: at + "2/%C3%84.cs",
		`{"documents":{"/src/Ä.cs":"https://a.example/one"}}`:                                      at + "one",
		`{"documents":{"/src/Ä.cs":"https://a.example/*"}}`:                                        "",
		`{"documents":{"/src/*":"https://a.example/one"}}`:                                         "",
		`{"documents":{"/src/Ä":"https://a.example/one","/lib/*":"https://a.example/*"}}`:          "",
		`{"documents":[]}`: "", `{`: "", "": "", `{"documents":{"/src/*":"` + strings.Repeat("x", 1<<20) + `*"}}`: "",
	} {
		p := ecma335test.PDB{Folder: "src", Name: "Ä.cs", Hash: []byte{1}, Links: links, Methods: [][]byte{nil}}
		f, err := pdb.Open(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := f.Link(1); got != want || ok != (want != "") {
			t.Errorf("%.80s: %q, %v", links, got, ok)
		}
		if _, ok := f.Link(2); ok {
			t.Errorf("%.80s: there is a link of no document", links)
		}
	}
}

func TestOtherFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		data []byte
		want error
		text string
	}{
		{"of Windows", []byte("Microsoft C/C++ MSF 7.00\r\n\x1aDS"), pdb.ErrWindows, "Windows"},
		{"an assembly's metadata", ecma335test.Root(ecma335test.Stream{Name: "#~", Data: make([]byte, 24)}), pdb.ErrNotPDB, "no portable PDB"},
		{"of another assembly", small(3, nil), pdb.ErrNotPDB, "1 methods of an assembly with 3"},
		{"nothing", nil, nil, "BSJB"},
	} {
		_, err := pdb.Open(test.data)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := pdb.References(ecma335test.Shop()); !errors.Is(err, pdb.ErrNoReference) {
		t.Errorf("an assembly without a PDB: %v", err)
	}
	if _, err := pdb.References([]byte("#!/bin/sh")); err == nil {
		t.Error("a script names a PDB")
	}
}

// TestEmbedded opens one that does not unpack to the size that it claims.
func TestEmbedded(t *testing.T) {
	file := small(1, nil)
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, 9)
	w.Write(file)
	w.Close()
	embedded := func(size int) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte("MPDB"), uint32(size)), packed.Bytes()...)
	}
	right := pdb.ID(bytes.Repeat([]byte{7}, 20))
	for _, test := range []struct {
		ref  pdb.Reference
		text string
	}{
		{pdb.Reference{ID: right, Embedded: embedded(len(file))}, ""},
		{pdb.Reference{Embedded: embedded(len(file))}, "another build"},
		{pdb.Reference{ID: right, Embedded: embedded(len(file) + 1)}, "does not unpack"},
		{pdb.Reference{ID: right, Embedded: embedded(len(file) - 1)}, "does not unpack"},
		{pdb.Reference{ID: right, Embedded: embedded(-1)}, "4294967295 bytes"},
		{pdb.Reference{ID: right, Embedded: []byte("MPDB")}, "begin with MPDB"},
	} {
		_, err := test.ref.Open()
		if test.text == "" && err != nil || test.text != "" && (err == nil || !strings.Contains(err.Error(), test.text)) {
			t.Errorf("%q: %v", test.text, err)
		}
	}
}

// FuzzOpen reads all of files that make no sense.
func FuzzOpen(f *testing.F) {
	f.Add(small(5, []byte{6, 0, 0, 14, 33, 9, 6, 0, 9, 2, 10, 2, 0, 0, 2, 0, 21, 0, 54}, []byte{0, 0, 0, 0}, []byte{0}, nil, []byte{0, 0, 0, 14, 1}))
	f.Add(ecma335test.Shop())
	if _, err := os.Stat(corpus.Dir(f)); err == nil {
		for _, path := range corpus.Glob(f, "lines", "*", "lines.[dp]*") {
			if data, err := os.ReadFile(path); err == nil {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := pdb.Open(data)
		if err != nil {
			ref, err := pdb.References(data)
			if err != nil {
				return
			}
			if file, _ = ref.Open(); file == nil {
				return
			}
		}
		for n := range min(file.Documents(), 100) {
			if d := file.Document(n + 1); len(d.Name) > 128<<10 {
				t.Errorf("a name of %d bytes", len(d.Name))
			}
			file.Source(n + 1)
			file.Link(n + 1)
		}
		for n := range min(file.Methods(), 100) {
			token := uint32(method1 + n)
			points, _ := file.Points(token)
			for i, p := range points {
				if p.Document < 1 || p.Document > file.Documents() || i > 0 && p.IL < points[i-1].IL || p.Line < 0 || p.EndLine < p.Line {
					t.Errorf("point %d of method %d: %+v", i, n+1, p)
				}
			}
			file.At(token, n)
			file.Kickoff(token)
		}
	})
}
