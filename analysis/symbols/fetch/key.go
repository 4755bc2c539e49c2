package fetch

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	portable "github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Key says which file is meant: its name, and which build of it.
type Key struct {
	Name string // of the file, without a folder
	ID   string // of the build, as symbol servers write it

	pdb     symbols.PDB
	image   image
	buildID string
	part    string // of the files with a build id: debuginfo or executable
	lines   lines
}

// A lines is the identity of a file that tells lines of source: of a portable PDB, or of the
// source itself.
type lines struct {
	isPDB    bool
	checksum string // of the PDB, as its assembly has it
	link     string // the address of the source
	hash     string // of the source, by an algorithm
	by       [16]byte
}

// The bytes of files that are read whole.
const (
	maxPortable = 256 << 20
	maxSource   = 64 << 20
)

// limit returns how many bytes the file may have, of those that any may have.
func (k Key) limit(most int64) int64 {
	switch {
	case k.lines.isPDB:
		return min(most, maxPortable)
	case k.lines.link != "":
		return min(most, maxSource)
	}
	return most
}

// An image is the identity of a PE file, and whether it is one of .NET.
type image struct {
	stamp, size uint32
	il          bool
}

// Keys returns the keys of the files that may name a place in native code, the best one
// first. There are none if the trace does not say which build it is of, or if the name of
// the file is unsafe.
func Keys(n *symbols.Native) []Key {
	if n.BuildID != "" {
		return elfKeys(n)
	}
	var keys []Key
	pdb, hasPDB := pdbKey(n.PDB)
	if hasPDB && !n.InFile {
		keys = append(keys, pdb)
	}
	if name := n.File(); n.TimeDateStamp != 0 && n.ImageSize != 0 && isName(name) && (n.IL || !hasPDB) {
		keys = slices.Insert(keys, 0, Key{Name: name, ID: fmt.Sprintf("%08X%x", n.TimeDateStamp, n.ImageSize),
			image: image{n.TimeDateStamp, n.ImageSize, n.IL}})
	}
	return keys
}

// Next returns the key of the file of symbols that belongs to an image, which was found by its
// key at a path. Other files have none.
func (k Key) Next(path string) []Key {
	if k.image.stamp == 0 || k.image.il || path == "" {
		return nil
	}
	id, err := native.ImagePDB(path)
	if pdb, ok := pdbKey(id); ok && err == nil {
		return []Key{pdb}
	}
	return nil
}

func pdbKey(id symbols.PDB) (Key, bool) {
	name := paths.Base(id.Path)
	if id.GUID == (etw.GUID{}) || !isName(name) {
		return Key{}, false
	}
	return Key{Name: name, ID: guidText(id.GUID) + fmt.Sprintf("%X", id.Age), pdb: id}, true
}

func guidText(g etw.GUID) string {
	return strings.ToUpper(strings.NewReplacer("-", "", "{", "", "}", "").Replace(g.String()))
}

// Portable returns the key of the portable PDB of a module, if the trace tells which it is.
// checksum is that of the PDB in the assembly, [portable.Reference.Checksum], or "" if the assembly
// is not at hand: NuGet's server has no answer without it.
func Portable(m symbols.Module, checksum string) (Key, bool) {
	name := cmp.Or(paths.Base(m.PDB.Path), m.Name()+".pdb")
	if m.PDB.GUID.IsZero() || !isName(name) {
		return Key{}, false
	}
	return Key{Name: name, ID: guidText(m.PDB.GUID) + "FFFFFFFF", pdb: m.PDB, lines: lines{isPDB: true, checksum: checksum}}, true
}

// Source returns the key of a source file, of which a PDB tells the hash and the address. There
// is none without both.
func Source(d portable.Document, link string) (Key, bool) {
	kind := "sha256-"
	if d.Algorithm == portable.SHA1 {
		kind = "sha1-"
	}
	if _, known := d.Is(nil); !known || len(d.Hash) > 32 || link == "" || !isName(d.Base()) {
		return Key{}, false
	}
	return Key{Name: d.Base(), ID: kind + hex.EncodeToString(d.Hash), lines: lines{link: link, hash: string(d.Hash), by: d.Algorithm}}, true
}

// The parts of a build.
const (
	partDebug   = "debuginfo"
	partProgram = "executable"
)

// elfKeys returns the keys of a debug file, and of the file itself, by which places in a
// file are addresses.
func elfKeys(n *symbols.Native) []Key {
	id := strings.ToLower(n.BuildID)
	if b, err := hex.DecodeString(id); err != nil || len(b) < 8 || len(b) > 64 {
		return nil
	}
	padded := id
	if len(padded) < 40 {
		padded += strings.Repeat("0", 40-len(padded))
	}
	keys := []Key{{Name: "_.debug", ID: "elf-buildid-sym-" + padded, buildID: id, part: partDebug}}
	if name := n.File(); isName(name) {
		keys = append(keys, Key{Name: name, ID: "elf-buildid-" + padded, buildID: id, part: partProgram})
	}
	return keys
}

// isName reports whether a name out of a trace may be that of a file, on all systems and in
// an address.
func isName(name string) bool {
	if name == "" || len(name) > 255 || strings.Trim(name, ". ") == "" || strings.HasSuffix(name, ".") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == 0xfffd || strings.ContainsRune(`/\:*?"<>|`, r)
	})
}

// String returns the path of the file in a store and on a server.
func (k Key) String() string { return k.Name + "/" + k.ID + "/" + k.Name }

// packed returns the name of the cabinet that has a file.
func packed(name string) string { return name[:len(name)-1] + "_" }

// check returns an error if a file that is read whole is not the one that is meant.
func (l *lines) check(data []byte, guid etw.GUID) error {
	if !l.isPDB {
		if same, _ := (portable.Document{Algorithm: l.by, Hash: []byte(l.hash)}).Is(data); !same {
			return fmt.Errorf("%w: its hash is not that of the source that was compiled", errOther)
		}
		return nil
	}
	p, err := portable.Open(data)
	if err == nil && etw.GUID(p.ID.GUID()) != guid {
		return fmt.Errorf("%w: it is %s, not %s", errOther, etw.GUID(p.ID.GUID()), guid)
	}
	return err
}

// Check returns an error if a file is not the one that the key means.
func (k Key) Check(f io.ReaderAt, size int64) error {
	if k.lines != (lines{}) {
		if most := k.limit(size); size > most {
			return fmt.Errorf("fetch: the file has %d bytes, more than %d", size, most)
		}
		data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
		if err != nil {
			return err
		}
		return k.lines.check(data, k.pdb.GUID)
	}
	if k.buildID != "" {
		id, err := native.BuildID(f, size)
		if err == nil && id != k.buildID {
			return fmt.Errorf("%w: its build id is %s, not %s", errOther, orNone(id), k.buildID)
		}
		return err
	}
	if k.image.stamp != 0 {
		stamp, memory, err := native.ImageIdentity(f)
		if err == nil && (stamp != k.image.stamp || memory != k.image.size) {
			return fmt.Errorf("%w: it has the time stamp %08X and takes %#x bytes, not %08X and %#x", errOther, stamp, memory, k.image.stamp, k.image.size)
		}
		return err
	}
	guid, ages, err := native.PDBIdentity(f, size)
	if err != nil {
		return err
	}
	if guid != k.pdb.GUID || ages[0] != k.pdb.Age && ages[1] != k.pdb.Age {
		return fmt.Errorf("%w: it is %s age %d, not %s age %d", errOther, guid, ages[1], k.pdb.GUID, k.pdb.Age)
	}
	return nil
}

func orNone(id string) string {
	return cmp.Or(id, "missing")
}
