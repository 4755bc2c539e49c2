package native

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/runtime/etw"
)

// PDBIdentity returns the identity of the build in a PDB file of native code: its GUID, and
// its ages, of the file and of its image, either of which a trace may have.
func PDBIdentity(r io.ReaderAt, size int64) (etw.GUID, [2]uint32, error) {
	p, err := openPDB(r, size)
	if err != nil {
		return etw.GUID{}, [2]uint32{}, err
	}
	return p.guid, p.ages, nil
}

// ImageIdentity returns when a PE file was linked, or a hash in its place, and how much memory
// it takes, by which symbol servers know it.
func ImageIdentity(r io.ReaderAt) (stamp, size uint32, err error) {
	var dos [64]byte
	var pe [84]byte
	if _, err := r.ReadAt(dos[:], 0); err != nil || string(dos[:2]) != "MZ" {
		return 0, 0, errNoImage
	}
	if _, err := r.ReadAt(pe[:], int64(binary.LittleEndian.Uint32(dos[60:]))); err != nil || string(pe[:4]) != "PE\x00\x00" {
		return 0, 0, errNoImage
	}
	return binary.LittleEndian.Uint32(pe[8:]), binary.LittleEndian.Uint32(pe[80:]), nil
}

var errNoImage = errors.New("native: it is no whole PE file")

// ImagePDB returns the file of symbols that the linker made with an image.
func ImagePDB(path string) (symbols.PDB, error) {
	data, err := readFile(path)
	if err != nil {
		return symbols.PDB{}, err
	}
	all, err := r2r.PDBs(data)
	if err != nil || len(all) == 0 {
		return symbols.PDB{}, err
	}
	return symbols.PDB{GUID: etw.GUID(all[0].Signature), Age: all[0].Age, Path: all[0].Path}, nil
}

// identify completes the identity of a place in an image, of which the trace tells the build
// and no file of symbols, by the image itself.
func (d *Dir) identify(n *symbols.Native) {
	if n.PDB.GUID != (etw.GUID{}) || n.TimeDateStamp == 0 || n.InFile {
		return
	}
	id := imageID{name: strings.ToLower(n.File()), stamp: n.TimeDateStamp}
	pdb, ok := d.linked[id]
	if !ok {
		for path := range d.mayHave(n, slices.Concat(d.images[id.name], d.usual.candidates(n.Module))) {
			if isImage(path, n) {
				pdb, _ = ImagePDB(path) // one that is damaged has none
				break
			}
		}
		d.linked[id] = pdb
	}
	n.PDB = pdb
}

// isImage reports whether a file is the image of the build that a trace tells of.
func isImage(path string, n *symbols.Native) bool {
	is, err := openFile(path, func(f *os.File, _ int64) (bool, error) {
		stamp, size, err := ImageIdentity(f)
		return stamp == n.TimeDateStamp && (n.ImageSize == 0 || size == n.ImageSize), err
	})
	return err == nil && is
}

// BuildID returns the build id of an ELF file in hexadecimal, or "" if it has none.
func BuildID(r io.ReaderAt, size int64) (string, error) {
	x, err := openELF(r, size)
	if err != nil {
		return "", err
	}
	return x.buildID(), nil
}
