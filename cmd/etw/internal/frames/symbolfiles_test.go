package frames

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestSymbolPath counts how often a server is asked: if the flag or the variable names it,
// and at no other time.
func TestSymbolPath(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.NotFound(w, r)
	}))
	defer server.Close()
	served := context.WithValue(t.Context(), cli.ShelfKey{}, true)
	for name, x := range map[string]struct {
		context  context.Context
		files    SymbolFiles
		variable bool
		want     int32
	}{
		"no path":                 {files: SymbolFiles{}},
		"a flag":                  {files: SymbolFiles{path: "x"}, want: 6},
		"a variable":              {variable: true, want: 6},
		"--missing, --dry-run":    {files: SymbolFiles{path: "x", Local: true}},
		"a variable, --missing":   {files: SymbolFiles{Local: true}, variable: true},
		"--no-symbols":            {files: SymbolFiles{none: true}, variable: true},
		"for others":              {context: served, variable: true},
		"for a page, by a flag":   {context: served, files: SymbolFiles{path: "x"}, want: 6},
		"for others, in a folder": {context: served, files: SymbolFiles{Path: t.TempDir()}, variable: true},
	} {
		path := "srv*" + filepath.Join(t.TempDir(), "store") + "*" + server.URL
		t.Setenv(pathVariable, "")
		if x.variable {
			t.Setenv(pathVariable, path)
		}
		if x.files.path != "" {
			x.files.path = path
		}
		cmd := new(cobra.Command)
		cmd.SetContext(t.Context())
		if x.context != nil {
			cmd.SetContext(x.context)
		}
		d, err := x.files.Open(cmd)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked.Store(0)
		if d != nil {
			d.Name(&symbols.Native{Module: `C:\shop\oven.dll`, Offset: 1, PDB: symbols.PDB{GUID: etw.GUID{1}, Age: 1, Path: "oven.pdb"}})
			d.Lines(symbols.Module{ILPath: "/app/Oven.dll", PDB: symbols.PDB{GUID: etw.GUID{1}}})
		}
		if n := asked.Load(); n != x.want {
			t.Errorf("%s: the server was asked %d times, not %d", name, n, x.want)
		}
	}
}
