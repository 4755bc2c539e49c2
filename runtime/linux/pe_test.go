package linux

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestPEIdentity reads the identities of .NET's own files, precompiled for Linux and with
// code for every machine: they equal those that the recorder of .NET 10 wrote of the same
// files.
func TestPEIdentity(t *testing.T) {
	f := testio.Open(t, trace.Open, corpus.File(t, "universal", "universal-dotnet.nettrace"))
	defer f.Close()
	told := make(map[string]peIdentity) // by the names of their symbols
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *universal.AnyProcessMappingMetadata) error {
		var id peIdentity
		if json.Unmarshal([]byte(e.SymbolMetadata.String()), &id) == nil && id.Type == "PE" {
			told[id.Name] = id
		}
		return nil
	})
	if err := mux.Run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, path := range corpus.Glob(t, "assemblies", "System.*.dll") {
		data := testio.Read(t, path)
		got, ok := imageIdentity(bytes.NewReader(data)).(peIdentity)
		if !ok {
			t.Errorf("%s is not identified", filepath.Base(path))
			continue
		}
		want, ok := told[got.Name]
		if !ok || want.Stamp != got.Stamp {
			continue // the recorder has not met this build
		}
		// Other recorders leave the size out: it is the end of the last section, rounded up.
		r, end := peReader{file: bytes.NewReader(data)}, uint32(0)
		for r.header(); len(r.sections) >= peSectionSize; r.sections = r.sections[peSectionSize:] {
			end = max(end, binary.LittleEndian.Uint32(r.sections[12:])+binary.LittleEndian.Uint32(r.sections[8:]))
		}
		if want.Size = got.Size; got != want || got.Size < end || got.Size-end > 1<<16 {
			t.Errorf("%s: %+v, want %+v", filepath.Base(path), got, want)
		}
		same++
	}
	if same == 0 {
		t.Error("none of the files is one that the recorder has met")
	}
	t.Logf("%d files", same)
}

// stampedPE returns a PE file of a machine that Windows does not know. Its compiler gave it
// no stamp.
func stampedPE(t *testing.T) []byte {
	data := testio.Read(t, filepath.Join("..", "..", "tests", "live", "app.dll"))
	header := data[binary.LittleEndian.Uint32(data[60:]):]
	binary.LittleEndian.PutUint16(header[4:], 0x8664^0x7b79) // for Linux
	binary.LittleEndian.PutUint32(header[8:], 12345)
	return data
}

// TestPEDamage cuts a file off everywhere, and changes its bytes: none of it is a panic.
func TestPEDamage(t *testing.T) {
	data := stampedPE(t)
	if id, ok := imageIdentity(bytes.NewReader(data)).(peIdentity); !ok || id.Stamp != 12345 {
		t.Errorf("%+v", id)
	}
	for n := range min(len(data), 1024) {
		imageIdentity(bytes.NewReader(data[:n]))
		for _, b := range []byte{0, 0x7f, 0xff} {
			changed := bytes.Clone(data)
			changed[n] = b
			imageIdentity(bytes.NewReader(changed))
		}
	}
}
