package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/eventsource"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
)

// codes damages files with code and symbols: assemblies, PDB and ELF files, and their parts,
// which every reader of such files gets.
type codes struct {
	*campaign
	files  [][]byte
	folder string // for those that are read from a folder
	sample []metrics.Sample
	// Their outcomes, by reader.
	accepted map[string]int
}

// testCode gives every damaged file to every reader of code and symbols.
func testCode(c *campaign, cfg config) error {
	x := &codes{campaign: c, accepted: make(map[string]int), sample: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	for _, dir := range []string{filepath.Join(cfg.module, "tests", "live"), cfg.corpus} {
		if err := x.collect(dir, cfg.max); err != nil {
			return err
		}
	}
	var err error
	if x.folder, err = os.MkdirTemp("", "hostile"); err != nil {
		return err
	}
	defer os.RemoveAll(x.folder)
	c.watch(time.Minute)
	c.run(x.one)
	fmt.Fprintf(c.out, "%d files were damaged; readers took %v\n", len(x.files), x.accepted)
	return nil
}

// collect adds the files with code in a folder, and below it.
func (x *codes) collect(dir string, most int64) error {
	if dir == "" {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".dll", ".exe", ".pdb", ".so", ".sys", ".wevt", ".bin":
			if info, err := d.Info(); err != nil || info.Size() > most {
				return err
			}
			data, err := os.ReadFile(path)
			x.files = append(x.files, data)
			return err
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// one damages a file, and has it read by all.
func (x *codes) one(r *rand.Rand) {
	data := mutateBytes(r, x.files[r.IntN(len(x.files))])
	x.mutant = data
	for _, reader := range []struct {
		name string
		read func([]byte) bool
	}{{"r2r", readImage}, {"portable PDB", readPortable}, {"EventSource", readSources}, {"WEVT", readTemplates}, {"native", x.readNative}} {
		before := x.allocated()
		if reader.read(data) {
			x.accepted[reader.name]++
		}
		if used := x.allocated() - before; used > uint64(64<<20+256*len(data)) {
			x.find("memory", "%s: %d MiB allocated for %d bytes", reader.name, used>>20, len(data))
		}
	}
}

func (x *codes) allocated() uint64 {
	metrics.Read(x.sample)
	return x.sample[0].Value.Uint64()
}

// mutateBytes damages a file in a few places: it is cut, has bits flipped, numbers made
// extreme, and parts copied over others, which makes tables refer to each other.
func mutateBytes(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + r.IntN(8) {
		if len(data) < 16 {
			return data
		}
		at := r.IntN(len(data) - 8)
		if r.IntN(3) == 0 { // the headers decide most
			at = r.IntN(min(len(data)-8, 1024))
		}
		switch r.IntN(6) {
		case 0, 1:
			data[at] ^= 1 << r.IntN(8)
		case 2:
			extremes := []uint32{0, 1, 0x7f, 0xff, 0x7fff, 0xffff, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, uint32(len(data)), uint32(at)}
			binary.LittleEndian.PutUint32(data[at:], extremes[r.IntN(len(extremes))])
		case 3:
			binary.LittleEndian.PutUint16(data[at:], uint16(r.Uint32()))
		case 4:
			n := min(1+r.IntN(64), len(data)-at)
			copy(data[at:at+n], data[r.IntN(len(data)-n+1):])
		case 5:
			if r.IntN(8) == 0 {
				data = data[:at]
			}
		}
	}
	return data
}

func readImage(data []byte) bool {
	x, err := r2r.Parse(data)
	if err != nil {
		return false
	}
	for i := range x.Len() {
		m := x.Method(i)
		_ = m.Name
	}
	for rva := uint32(0); rva < 1<<20; rva += 4099 {
		x.Lookup(rva)
		x.Thunk(rva)
	}
	x.PDBs()
	return true
}

func readPortable(data []byte) bool {
	_, refErr := pdb.References(data)
	f, err := pdb.Open(data)
	if err != nil {
		return refErr == nil
	}
	for i := range min(f.Documents(), 1<<12) {
		f.Document(i)
		_, _, _ = f.Source(i) // errors are as good
	}
	for i := range min(f.Methods(), 1<<12) {
		token := 0x06000000 | uint32(i+1)
		_, _ = f.Points(token)
		f.Kickoff(token)
		f.At(token, 4)
	}
	return true
}

func readSources(data []byte) bool {
	sources, err := eventsource.Read("hostile.dll", data, eventsource.Options{})
	if err != nil || len(sources) == 0 {
		return false
	}
	text := eventsource.AppendXML(nil, "", sources...)
	_, _, err = manifest.Parse("hostile.man", text, manifest.Options{Lenient: true})
	return err == nil
}

func readTemplates(data []byte) bool {
	res, err := wevt.ReadPE(bytes.NewReader(data))
	if err != nil {
		return false
	}
	m, _, err := wevt.Decode("hostile.dll", res, wevt.Options{})
	if err != nil || m == nil {
		return false
	}
	m.Describe()
	return true
}

// readNative has a folder of symbols read, under the names that ask for each of its forms.
func (x *codes) readNative(data []byte) bool {
	path := filepath.Join(x.folder, "hostile.pdb")
	for _, name := range []string{path, filepath.Join(x.folder, "libhostile.so"), filepath.Join(x.folder, "perf-42.map")} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			x.find("folder", "%v", err)
			return false
		}
	}
	d, err := native.Open(x.folder)
	if err != nil {
		x.find("folder", "%v", err)
		return false
	}
	named := false
	guid, age := pdbOf(data)
	for at := uint64(0x1000); at < 0x40000; at += 0x1fff {
		n := symbols.Native{Module: `C:\hostile.dll`, Offset: at, PDB: symbols.PDB{GUID: guid, Age: age, Path: "hostile.pdb"}}
		named = d.Name(&n) != native.FromNothing || named
		n = symbols.Native{Module: "/lib/libhostile.so", Offset: at, InFile: true, BuildID: buildOf(data)}
		named = d.Name(&n) != native.FromNothing || named
		d.Jitted(42, at)
	}
	return named
}

// pdbOf returns the identity of a native PDB, which follows the number of its version.
func pdbOf(data []byte) (guid etw.GUID, age uint32) {
	const version = 20000404
	i := bytes.Index(data, binary.LittleEndian.AppendUint32(nil, version))
	if i < 0 || len(data) < i+28 {
		return guid, 0
	}
	copy(guid[:], data[i+12:])
	return guid, binary.LittleEndian.Uint32(data[i+8:])
}

// buildOf returns the build id of an ELF file, which is a note of GNU.
func buildOf(data []byte) string {
	const size = 20
	i := bytes.Index(data, []byte("\x14\x00\x00\x00\x03\x00\x00\x00GNU\x00"))
	if i < 0 || len(data) < i+12+size {
		return ""
	}
	return hex.EncodeToString(data[i+12 : i+12+size])
}
