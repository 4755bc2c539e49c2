package pdb

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// An ID identifies a PDB and the assembly that it was made with: a GUID, and a number that
// some writers of traces leave out.
type ID [20]byte

// GUID returns the first part, in the order of bytes in which traces have it.
func (id ID) GUID() [16]byte { return [16]byte(id[:16]) }

// String returns all bytes in hexadecimal.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Files that are taken for portable PDBs.
var (
	ErrWindows = errors.New("pdb: it is a PDB of Windows, not a portable one")
	ErrNotPDB  = errors.New("pdb: it is no portable PDB")
)

// A File is a portable PDB. It may be used by several goroutines.
type File struct {
	ID ID

	m       *ecma335.Metadata
	methods uint32
	kickoff map[uint32]uint32 // from the method that moves a state machine
	owners  map[uint32]uint32 // documents' rows of their own text
	links   []byte            // where documents are, in JSON
}

// windowsMagic is the begin of other PDBs.
const windowsMagic = "Microsoft C/C++ MSF 7.00"

// Open reads a portable PDB. It uses data as long as the File is used.
func Open(data []byte) (*File, error) {
	if bytes.HasPrefix(data, []byte(windowsMagic)) {
		return nil, ErrWindows
	}
	m, err := ecma335.ParseMetadata(data)
	if err != nil {
		return nil, fmt.Errorf("pdb: %w", err)
	}
	if m.PDB == nil {
		return nil, ErrNotPDB
	}
	f := &File{ID: m.PDB.ID, m: m, methods: m.Rows(ecma335.MethodDebugInformation)}
	if n := m.Count(ecma335.MethodDef); f.methods != 0 && f.methods != n {
		return nil, fmt.Errorf("%w: it has lines for %d methods of an assembly with %d", ErrNotPDB, f.methods, n)
	}
	f.readStateMachines()
	f.readSources()
	return f, nil
}

// Methods returns how many methods there are. Files without lines have none.
func (f *File) Methods() int { return int(f.methods) }

// readStateMachines learns which methods move the state machines that others are turned
// into.
func (f *File) readStateMachines() {
	f.kickoff = make(map[uint32]uint32)
	for row := uint32(1); row <= f.m.Rows(ecma335.StateMachineMethod); row++ {
		move := f.m.Token(ecma335.StateMachineMethod, row, 0).Row()
		of := f.m.Token(ecma335.StateMachineMethod, row, 1).Row()
		if _, known := f.kickoff[move]; !known && move != 0 && of != 0 {
			f.kickoff[move] = of
		}
	}
}

// Kickoff returns the async method or iterator that a method is the code of, if it is that
// of a state machine: people know it under that name.
func (f *File) Kickoff(token uint32) (uint32, bool) {
	of, ok := f.kickoff[row(token)]
	return uint32(ecma335.MakeToken(ecma335.MethodDef, of)), ok
}

// row returns the row of a method, or 0 if the token is of something else.
func row(token uint32) uint32 {
	t := ecma335.Token(token)
	if t.Table() != ecma335.MethodDef {
		return 0
	}
	return t.Row()
}
