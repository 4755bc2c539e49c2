package native

import (
	"io"

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

// BuildID returns the build id of an ELF file in hexadecimal, or "" if it has none.
func BuildID(r io.ReaderAt, size int64) (string, error) {
	x, err := openELF(r, size)
	if err != nil {
		return "", err
	}
	return x.buildID(), nil
}
