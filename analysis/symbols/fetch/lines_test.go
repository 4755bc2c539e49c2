package fetch

import (
	"crypto/sha256"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	portable "github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
)

// TestPortable asks for a portable PDB a server that wants its checksum, as NuGet's does, and
// servers that have other files in its place.
func TestPortable(t *testing.T) {
	module := symbols.Module{ILPath: "/app/Oven.dll", PDB: symbols.PDB{GUID: testGUID, Age: 1}}
	p := ecma335test.PDB{Folder: "src", Name: "Oven.cs", Hash: make([]byte, 32), Methods: [][]byte{nil}}
	copy(p.ID[:], testGUID[:])
	right := p.Bytes()
	p.ID[0]++
	const key, sum = "Oven.pdb/00112233445566778899AABBCCDDEEFFFFFFFFFF/Oven.pdb", "SHA256:0011"
	for name, x := range map[string]struct {
		file     []byte
		checksum string
		part     string
	}{
		"right":             {right, sum, ""},
		"without checksum":  {right, "", "403"},
		"of another build":  {p.Bytes(), sum, "another build"},
		"of Windows":        {makePDB(testGUID), sum, "Windows"},
		"cut":               {right[:100], sum, "pdb:"},
		"nothing":           {nil, sum, "pdb:"},
		"more than it says": {make([]byte, 1<<20), sum, "pdb:"},
	} {
		b := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("SymbolChecksum") != sum {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			files(map[string][]byte{key: x.file})(w, r)
		})
		k, ok := Portable(module, x.checksum)
		if !ok || k.String() != key {
			t.Fatalf("%s, %v", k, ok)
		}
		path := b.finder("").Find(t.Context(), k)
		if got, err := os.ReadFile(path); (x.part == "") != (err == nil && string(got) == string(right)) {
			t.Errorf("%s: %q, %v", name, path, err)
		}
		if x.part != "" && (len(b.events) != 1 || !strings.Contains(b.events[0].Err.Error(), x.part) || len(stored(t, b.store)) != 0) {
			t.Errorf("%s: %v, %q", name, b.events, stored(t, b.store))
		}
	}
	module.PDB.Path = "/src/../..:x"
	if k, ok := Portable(module, ""); ok {
		t.Errorf("a key of a hostile name: %s", k)
	}
}

// TestSource asks for source files by the links of a PDB: below the server that the user names,
// whatever the links say, and the text must have the hash.
func TestSource(t *testing.T) {
	const text = "class Oven\r\n{\r\n}\r\n"
	hash := sha256.Sum256([]byte(text))
	d := portable.Document{Name: `C:\src\Oven.cs`, Algorithm: portable.SHA256, Hash: hash[:]}
	served := map[string][]byte{
		"src/Oven.cs": []byte(text), "src/unix.cs": []byte(strings.ReplaceAll(text, "\r", "")), "src/other.cs": []byte("class Stove\n"),
		"Oven.cs": []byte(text), "srcs/Oven.cs": []byte(text),
	}
	for link, part := range map[string]string{
		"/src/Oven.cs": "", "/src/unix.cs": "", "/src/Oven.cs?v=1": "",
		"/src/other.cs": "hash", "/Oven.cs": "-", "/srcs/Oven.cs": "-", "/src/../Oven.cs": "-", "/src/%2e%2e/Oven.cs": "-", "/src//Oven.cs": "-",
		"https://b.example/src/Oven.cs": "-", "http://me@127.0.0.1/src/Oven.cs": "-", "file:///etc/passwd": "-", ":": "-",
	} {
		b := serve(t, files(served))
		p, err := ParsePath("source*"+b.server.URL+"/src/", b.store)
		if err != nil {
			t.Fatal(err)
		}
		f := New(p, Limits{}, func(e Event) { b.events = append(b.events, e) })
		if strings.HasPrefix(link, "/") {
			link = b.server.URL + link
		}
		k, ok := Source(d, link)
		if !ok {
			t.Fatalf("no key of %s", link)
		}
		path := f.Find(t.Context(), k)
		if (path != "") != (part == "") || (part == "-") != (len(b.asked) == 0) {
			t.Errorf("%s: %q, asked for %q", link, path, b.asked)
		}
		if part == "hash" && (len(b.events) != 1 || !strings.Contains(b.events[0].Err.Error(), part) || len(stored(t, b.store)) != 0) {
			t.Errorf("%s: %v, %q", link, b.events, stored(t, b.store))
		}
		if f.Find(t.Context(), Keys(&testCode)[0]); len(b.asked) > 1 {
			t.Errorf("a server of sources is asked for symbols: %q", b.asked)
		}
	}
	unknown, long, hostile := d, d, d
	unknown.Algorithm, long.Hash, hostile.Name = [16]byte{}, make([]byte, 1000), "C:\\src\\.."
	for _, d := range []portable.Document{unknown, long, hostile} {
		if k, ok := Source(d, "https://a.example/"); ok {
			t.Errorf("a key of a source that nobody can check or keep: %s", k)
		}
	}
}
