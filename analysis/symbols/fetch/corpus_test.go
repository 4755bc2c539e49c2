package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestNames has a place in a real program named by the PDB of it, which a server has as a
// cabinet, as public ones do.
func TestNames(t *testing.T) {
	const key = "ShowSSEConfig.pdb/A62592418D7807494C4C44205044422E1/ShowSSEConfig.pdb"
	packed, err := os.ReadFile(corpus.File(t, "symsrv", "ShowSSEConfig.pd_"))
	if err != nil {
		t.Fatal(err)
	}
	b := serve(t, files(map[string][]byte{strings.TrimSuffix(key, "b") + "_": packed}))
	f := b.finder("")
	d, err := native.Open("", native.Elsewhere(func(n *symbols.Native) []string { return f.Files(t.Context(), n) }))
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for at := uint64(0x1000); at < 0x3000; at += 16 {
		n := symbols.Native{Module: `C:\x\ShowSSEConfig.exe`, Offset: at, PDB: symbols.PDB{
			GUID: etw.MustParseGUID("a6259241-8d78-0749-4c4c-44205044422e"), Age: 1, Path: `D:\b\ShowSSEConfig.pdb`}}
		if d.Name(&n) == native.FromPDB && n.Function != "" {
			named++
		}
	}
	if named == 0 || len(b.asked) != 2 || len(d.Faults()) != 0 {
		t.Errorf("%d names; asked for %q; %v; %v", named, b.asked, b.events, d.Faults())
	}
	if info, err := os.Stat(filepath.Join(b.store, key)); err != nil || info.Size() != 372736 {
		t.Errorf("%v, %v", info, err)
	}
}
