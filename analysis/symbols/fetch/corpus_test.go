package fetch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestNames has places in a real program named by its PDB, which a server has as a cabinet, as
// public ones do: where a trace tells the PDB, and where it tells the program's time stamp and
// size, and the server has the program.
func TestNames(t *testing.T) {
	const pdb = "ShowSSEConfig.pdb/A62592418D7807494C4C44205044422E1/ShowSSEConfig.pdb"
	const exe = "ShowSSEConfig.exe/63E6C7F78000/ShowSSEConfig.exe"
	all := make(map[string][]byte)
	for key, name := range map[string]string{pdb: "ShowSSEConfig.pd_", exe: "ShowSSEConfig.ex_"} {
		packed := testio.Read(t, corpus.File(t, "symsrv", name))
		all[key[:len(key)-1]+"_"] = packed
	}
	named := make(map[string]int)
	for _, x := range []struct {
		code symbols.Native
		want []string
	}{
		{symbols.Native{PDB: symbols.PDB{GUID: etw.MustParseGUID("a6259241-8d78-0749-4c4c-44205044422e"), Age: 1, Path: `D:\b\ShowSSEConfig.pdb`}}, []string{pdb}},
		{symbols.Native{TimeDateStamp: 0x63e6c7f7, ImageSize: 0x8000}, []string{exe, pdb}},
		{symbols.Native{TimeDateStamp: 0x63e6c7f7, ImageSize: 0x9000}, nil}, // which the server does not have
	} {
		b := serve(t, files(all))
		f := b.finder("")
		d := testio.Open(t, native.Open, "", native.Elsewhere(func(n *symbols.Native) []string { return f.Files(t.Context(), n) }))
		for at := uint64(0x1000); at < 0x3000; at += 16 {
			n := x.code
			n.Module, n.Offset = `C:\x\ShowSSEConfig.exe`, at
			if d.Name(&n) == native.FromPDB && n.Function != "" {
				named[n.Function]++
			}
		}
		if (len(named) > 0) != (x.want != nil) || len(d.Faults()) != 0 {
			t.Errorf("%+v: %d names; asked for %q; %v; %v", x.code, len(named), b.asked, b.events, d.Faults())
		}
		got := stored(t, b.store)
		for i, key := range x.want {
			if i >= len(got) || got[i] != key {
				t.Errorf("%+v: the store has %q", x.code, got)
			}
		}
		n := x.code
		n.Module = `C:\x\ShowSSEConfig.exe`
		if x.want == nil {
			continue
		}
		clear(named)
		first := Keys(&n)[0] // as a run ahead finds them
		path := f.Find(t.Context(), first)
		if next := first.Next(path); (len(next) == 1 && next[0].String() == pdb) != (len(x.want) == 2) {
			t.Errorf("%s leads to %v", first, next)
		}
	}
}

// TestOtherImage refuses images of another time stamp or size, and others than images.
func TestOtherImage(t *testing.T) {
	data := testio.Read(t, corpus.File(t, "symsrv", "ShowSSEConfig.exe"))
	for _, x := range []struct {
		code symbols.Native
		data []byte
		want string
	}{
		{symbols.Native{TimeDateStamp: 0x63e6c7f7, ImageSize: 0x8000}, data, ""},
		{symbols.Native{TimeDateStamp: 0x63e6c7f8, ImageSize: 0x8000}, data, "another build"},
		{symbols.Native{TimeDateStamp: 0x63e6c7f7, ImageSize: 0x8001}, data, "another build"},
		{symbols.Native{TimeDateStamp: 0x63e6c7f7, ImageSize: 0x8000}, data[:80], "no whole PE"},
		{symbols.Native{TimeDateStamp: 0x63e6c7f7, ImageSize: 0x8000}, nil, "no whole PE"},
	} {
		x.code.Module = "ShowSSEConfig.exe"
		k := Keys(&x.code)[0]
		b := serve(t, files(map[string][]byte{k.String(): x.data}))
		path := b.finder("").Find(t.Context(), k)
		if (path != "") != (x.want == "") || x.want != "" && !strings.Contains(fmt.Sprint(b.events), x.want) {
			t.Errorf("%s: found %q, %v", k, path, b.events)
		}
	}
}
