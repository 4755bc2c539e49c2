package directive

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

func ExampleSplit() {
	words, err := Split(`go tool etwgen gen "a shop.man"`)
	fmt.Printf("%q %v\n", words, err)
	// Output: ["go" "tool" "etwgen" "gen" "a shop.man"] <nil>
}

// TestImportPath: the line for a package is found in its folder and in others of its module.
func TestImportPath(t *testing.T) {
	for _, tt := range []struct {
		file, line, dir, want string
	}{
		{"b/b.go", "go tool etwgen gen shop.man", "b", "example.com/gg/b"},
		{"b/b.go", "go tool etwgen gen -o . shop.man\r", "b", "example.com/gg/b"},
		{"b/b.go", "go tool etwgen gen -o ../c shop.man", "b", ""},
		{"b/b.go", "go tool etwgen gen -o ../c shop.man", "c", "example.com/gg/b"},
		{"main.go", "go run github.com/etwgen/etwgen/cmd/etwgen@v0.1.0 gen --tests -o=b shop.man", "b", "example.com/gg"},
		{"main.go", `bin\etwgen.exe gen --output b shop.man`, "b", ""}, // but on Windows
		{"main.go", "etwgen.exe gen shop.man -ob", "b", "example.com/gg"},
		{"main.go", "etwgen gen --output=b/deep shop.man", "b", ""},
		{"main.go", "etwgen check shop.man", ".", ""},
		{"main.go", `etwgen gen "shop.man`, ".", ""},
		{"other/main.go", "etwgen gen -o ../b shop.man", "b", ""}, // it is of another module
		{"vendor/main.go", "etwgen gen -o ../b shop.man", "b", ""},
	} {
		if filepath.Separator == '\\' && tt.line[0] == 'b' {
			continue
		}
		root := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "// A module.\nmodule \"example.com/gg\" // so\n", "other/go.mod": "module other\n",
			"vendor/v.go": "", "b/x.txt": "", "c/x.txt": "",
			tt.file: "package p\n\n//go:generate " + tt.line + "\n",
		} {
			path := filepath.Join(root, filepath.FromSlash(name))
			testio.Write(t, path, []byte(text))
		}
		if got := ImportPath(filepath.Join(root, tt.dir)); got != tt.want {
			t.Errorf("%s in %s: %q makes %s, want %q", tt.line, tt.file, got, tt.dir, tt.want)
		}
	}
}

// TestIn: the arguments are those after gen.
func TestIn(t *testing.T) {
	dir := t.TempDir()
	if args, ok := In(dir, dir); ok {
		t.Errorf("%q in an empty folder", args)
	}
	testio.Write(t, filepath.Join(dir, "a.go"), []byte("//go:generate go tool etwgen gen --tests  a.man\n"))
	if args, ok := In(dir, dir); !ok || !slices.Equal(args, []string{"--tests", "a.man"}) {
		t.Errorf("%q, %v", args, ok)
	}
}
