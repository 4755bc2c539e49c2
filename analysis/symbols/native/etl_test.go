package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestETL names the kernel and libraries of a recording of Windows by a store that has a PDB for
// each build. Libraries of one name are of several builds, for programs of 32 and of 64 bits, and
// one build is at several places, in several processes.
func TestETL(t *testing.T) {
	f := testio.Open(t, trace.Open, corpus.File(t, "etl", "net.4.5.2.x64.etl"))
	defer f.Close()
	var mux etw.Mux
	m := system.Of(&mux)
	if err := mux.Run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{"clr.dll": true, "ntdll.dll": true, "ntoskrnl.exe": true}
	store, names := t.TempDir(), make(map[symbols.PDB]string)
	var places []symbols.Native
	pids := make(map[string]map[int64]bool)
	for _, i := range m.ImagesResult().Images {
		n := symbols.Native{Module: i.Path, Offset: 0x1181, TimeDateStamp: i.TimeDateStamp, ImageSize: uint32(i.Size),
			PDB: symbols.PDB{GUID: i.PDBGUID, Age: i.PDBAge, Path: i.PDB}}
		file := strings.ToLower(n.File())
		if !wanted[file] || i.PDB == "" {
			continue
		}
		if names[n.PDB] == "" {
			names[n.PDB] = fmt.Sprintf("f%04d", len(names))
			b := testPDB(debugStreams(map[int]uint16{debugSections: 6}))
			at := bytes.Index(b, testGUID[:])
			copy(b[at:], i.PDBGUID[:])
			binary.LittleEndian.PutUint32(b[at-4:], i.PDBAge)
			b = bytes.ReplaceAll(b, []byte("knead"), []byte(names[n.PDB]))
			path := filepath.Join(store, i.PDB, fmt.Sprint(len(names)), i.PDB)
			testio.Write(t, path, b)
		}
		if pids[file] == nil {
			pids[file] = make(map[int64]bool)
		}
		pids[file][i.PID] = true
		places = append(places, n)
	}
	d := testio.Open(t, Open, store)
	builds := make(map[string]map[string]bool)
	for _, n := range places {
		want := names[n.PDB]
		if from := d.Name(&n); from != FromPDB || n.Function != want || n.Offset != 1 {
			t.Errorf("%s is %s, by %v; want %s", n.Module, n.Text(0), from, want)
		}
		file := strings.ToLower(n.File())
		if builds[file] == nil {
			builds[file] = make(map[string]bool)
		}
		builds[file][want] = true
	}
	for file := range wanted {
		t.Logf("%s: %d builds in %d processes", file, len(builds[file]), len(pids[file]))
	}
	if len(builds["clr.dll"]) != 2 || len(builds["ntdll.dll"]) != 2 || len(builds["ntoskrnl.exe"]) != 1 || len(pids["ntdll.dll"]) < 2 {
		t.Errorf("builds %v", builds)
	}
}
