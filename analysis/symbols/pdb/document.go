package pdb

import (
	"bytes"
	"compress/flate"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A Document is a source file.
type Document struct {
	// Name is its path when it was compiled, often one that is made up for builds to
	// be alike.
	Name string
	// Algorithm is the GUID of that of Hash, by which a file at hand can be told to be
	// the one that was compiled.
	Algorithm [16]byte
	Hash      []byte
}

// Base returns the last part of the name.
func (d *Document) Base() string { return d.Name[strings.LastIndexAny(d.Name, `/\`)+1:] }

// The algorithms of hashes.
var (
	SHA1   = [16]byte{0xec, 0x16, 0x18, 0xff, 0x5e, 0xaa, 0x10, 0x4d, 0x87, 0xf7, 0x6f, 0x49, 0x63, 0x83, 0x34, 0x60}
	SHA256 = [16]byte{0x0f, 0xd0, 0x29, 0x88, 0xb8, 0x11, 0x13, 0x42, 0x87, 0x8b, 0x77, 0x0e, 0x85, 0x97, 0xac, 0x16}
)

// Is reports whether a text is the one that was compiled, but for the ends of its lines, which
// tools change. Nobody can tell where the algorithm of the hash is not known.
func (d Document) Is(text []byte) (same, known bool) {
	var sum func([]byte) []byte
	switch d.Algorithm {
	case SHA1:
		sum = func(b []byte) []byte { s := sha1.Sum(b); return s[:] }
	case SHA256:
		sum = func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }
	default:
		return false, false
	}
	unix := bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.Equal(sum(text), d.Hash) || bytes.Equal(sum(unix), d.Hash) ||
		bytes.Equal(sum(bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))), d.Hash), true
}

// longestName bounds the name of a document, whose parts may all be the same long one.
const longestName = 32 << 10

// Documents returns how many source files there are. They are numbered from 1.
func (f *File) Documents() int { return int(f.m.Rows(ecma335.Document)) }

// Document returns a source file, or one without a name if there is none.
func (f *File) Document(n int) Document {
	if n < 1 || n > f.Documents() {
		return Document{}
	}
	r := uint32(n)
	return Document{
		Name:      f.documentName(f.m.Blob(f.m.Cell(ecma335.Document, r, 0))),
		Algorithm: f.m.GUID(f.m.Cell(ecma335.Document, r, 1)),
		Hash:      f.m.Blob(f.m.Cell(ecma335.Document, r, 2)),
	}
}

// documentName puts a name together: a separator, and the places of the parts in the heap.
func (f *File) documentName(b []byte) string {
	separator, n := utf8.DecodeRune(b)
	if n == 0 || separator == utf8.RuneError {
		return ""
	}
	between := string(separator)
	if separator == 0 {
		between = ""
	}
	var name strings.Builder
	c := ecma335.NewCursor(b[n:])
	for i := 0; c.Left() > 0; i++ {
		part := f.m.Blob(c.Uint())
		if c.Failed() || name.Len()+len(part)+len(between) > longestName {
			break
		}
		if i > 0 {
			name.WriteString(between)
		}
		name.Write(part)
	}
	return strings.ToValidUTF8(name.String(), "\ufffd")
}

// The kinds of further information that are read.
var (
	embeddedSource = [16]byte{0x71, 0x8b, 0x57, 0x0e, 0x6e, 0x92, 0x6e, 0x46, 0xb4, 0xad, 0x8a, 0xb0, 0x46, 0x11, 0xf5, 0xfe}
	sourceLink     = [16]byte{0x56, 0x05, 0x11, 0xcc, 0x91, 0xa0, 0x38, 0x4d, 0x9f, 0xec, 0x25, 0xab, 0x9a, 0x35, 0x1a, 0x6a}
)

// readSources learns which documents have their text in the file, and where others are.
func (f *File) readSources() {
	f.owners = make(map[uint32]uint32)
	for r := uint32(1); r <= f.m.Rows(ecma335.CustomDebugInformation); r++ {
		of := f.m.Token(ecma335.CustomDebugInformation, r, 0)
		switch f.m.GUID(f.m.Cell(ecma335.CustomDebugInformation, r, 1)) {
		case embeddedSource:
			if of.Table() == ecma335.Document {
				f.owners[of.Row()] = r
			}
		case sourceLink:
			if of.Table() == ecma335.Module {
				f.links = f.m.Blob(f.m.Cell(ecma335.CustomDebugInformation, r, 2))
			}
		}
	}
}

// maxSource is how long a text may be.
const maxSource = 64 << 20

var errSource = errors.New("pdb: the text of the document is damaged")

// Source returns the text of a document, if the file has it.
func (f *File) Source(n int) ([]byte, bool, error) {
	r, ok := f.owners[uint32(n)]
	if !ok || n < 1 {
		return nil, false, nil
	}
	b := f.m.Blob(f.m.Cell(ecma335.CustomDebugInformation, r, 2))
	if len(b) < 4 {
		return nil, true, errSource
	}
	size := int32(binary.LittleEndian.Uint32(b))
	if b = b[4:]; size == 0 {
		return b, true, nil
	}
	if size < 0 || size > maxSource {
		return nil, true, errSource
	}
	text, err := inflate(b, int64(size))
	if err != nil {
		return nil, true, errSource
	}
	return text, true, nil
}

// inflate unpacks data of a certain size.
func inflate(b []byte, size int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), size+1))
	if err == nil && int64(len(text)) != size {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}
