package pdb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A Reference is an assembly's reference to its PDB.
type Reference struct {
	ID ID
	// Path is where the PDB was when it was made.
	Path string
	// Embedded has the PDB if it is inside of the assembly, still packed: see
	// [Reference.Open].
	Embedded []byte
	// Checksum is that of the PDB, as servers of symbols want it: SHA256 and hexadecimal digits.
	Checksum string
}

// The types of debug entries.
const (
	debugCodeView = 2
	debugEmbedded = 17
	debugChecksum = 19
	portableMinor = 0x504d
)

// ErrNoReference says that an assembly names no portable PDB.
var ErrNoReference = errors.New("pdb: the assembly names no portable PDB")

// References reads an assembly's references to its PDB.
func References(assembly []byte) (Reference, error) {
	image, err := ecma335.ParseImage(assembly)
	if err != nil {
		return Reference{}, fmt.Errorf("pdb: %w", err)
	}
	var ref Reference
	found := false
	for _, e := range image.Debug() {
		switch {
		case e.Type == debugCodeView && e.Minor == portableMinor && !found && len(e.Data) >= 24 && string(e.Data[:4]) == "RSDS":
			found = true
			copy(ref.ID[:16], e.Data[4:])
			binary.LittleEndian.PutUint32(ref.ID[16:], e.Stamp)
			path, _, _ := bytes.Cut(e.Data[24:], []byte{0})
			ref.Path = strings.ToValidUTF8(string(path), "\ufffd")
		case e.Type == debugEmbedded && ref.Embedded == nil:
			ref.Embedded = e.Data
		case e.Type == debugChecksum:
			if name, sum, ok := bytes.Cut(e.Data, []byte{0}); ok && string(name) == "SHA256" && len(sum) == sha256.Size {
				ref.Checksum = "SHA256:" + hex.EncodeToString(sum)
			}
		}
	}
	if !found {
		return Reference{}, ErrNoReference
	}
	return ref, nil
}

// maxEmbedded is how long a PDB inside of an assembly may be.
const maxEmbedded = 256 << 20

// Open opens the PDB inside of the assembly. It returns nil if there is none.
func (r *Reference) Open() (*File, error) {
	if r.Embedded == nil {
		return nil, nil
	}
	if len(r.Embedded) < 8 || string(r.Embedded[:4]) != "MPDB" {
		return nil, fmt.Errorf("%w: what is inside of the assembly does not begin with MPDB", ErrNotPDB)
	}
	size := binary.LittleEndian.Uint32(r.Embedded[4:])
	if size > maxEmbedded {
		return nil, fmt.Errorf("%w: what is inside of the assembly says that it has %d bytes", ErrNotPDB, size)
	}
	data, err := inflate(r.Embedded[8:], int64(size))
	if err != nil {
		return nil, fmt.Errorf("%w: what is inside of the assembly does not unpack to %d bytes: %w", ErrNotPDB, size, err)
	}
	f, err := Open(data)
	if err != nil {
		return nil, err
	}
	return f, r.Check(f)
}

// Check returns an error unless f is the PDB that is meant.
func (r *Reference) Check(f *File) error {
	if f.ID != r.ID {
		return &MismatchError{Want: r.ID, Got: f.ID}
	}
	return nil
}

// A MismatchError says that a PDB is of another build.
type MismatchError struct{ Want, Got ID }

// Error names both.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("pdb: it is of another build: its id is %v, the assembly's %v", e.Got, e.Want)
}
