package fetch

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
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
	guid := strings.NewReplacer("-", "", "{", "", "}", "").Replace(id.GUID.String())
	return Key{Name: name, ID: strings.ToUpper(guid) + fmt.Sprintf("%X", id.Age), pdb: id}, true
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

// Check returns an error if a file is not the one that the key means.
func (k Key) Check(f io.ReaderAt, size int64) error {
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
	if id == "" {
		return "missing"
	}
	return id
}
