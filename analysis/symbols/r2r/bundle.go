package r2r

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// A Bundled is a file inside of a program that is a single file. Its images are mapped
// from inside of the program, so that an offset in it, less that of the image, is one in
// the image.
type Bundled struct {
	Path string
	// Offset and Size are where the file is in the program.
	Offset, Size int64
	// Compressed files are unpacked into memory that no file is mapped to.
	Compressed bool
	// Assembly says that it is an assembly of .NET.
	Assembly bool
}

// ErrNoBundle says that a program has no files inside.
var ErrNoBundle = errors.New("r2r: the program has no files inside")

// bundleMark stands in programs of .NET behind the place of the list of files.
var bundleMark = func() []byte {
	b, err := hex.DecodeString("8b1202b96a612038727b930214d7a03213f5b9e6efae3318ee3b2dce24b36aae")
	if err != nil {
		panic(err)
	}
	return b
}()

// maxManifest bounds the list of files.
const maxManifest = 16 << 20

// ReadBundle lists the files inside of a program. The error is [ErrNoBundle] if there are
// none.
func ReadBundle(r io.ReaderAt, size int64) ([]Bundled, error) {
	at, err := findManifest(r, size)
	if err != nil {
		return nil, err
	}
	if at <= 0 || at >= size {
		return nil, ErrNoBundle
	}
	b := make([]byte, min(maxManifest, size-at))
	if _, err := r.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("r2r: the list of files at %#x: %w", at, err)
	}
	m := &manifestReader{b: b}
	files := m.files(size)
	if m.failed {
		return nil, fmt.Errorf("r2r: the list of files at %#x is damaged", at)
	}
	return files, nil
}

// findManifest looks for the mark, and returns where the list of files is: 0 if there is
// none.
func findManifest(r io.ReaderAt, size int64) (int64, error) {
	const chunk = 1 << 20
	before := 8 + len(bundleMark) // also looked at with the chunk in front
	b := make([]byte, chunk+before)
	for at := int64(0); at < size; at += chunk {
		n, err := r.ReadAt(b[:min(int64(len(b)), size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("r2r: %w", err)
		}
		if i := bytes.Index(b[:n], bundleMark); i >= 8 {
			return int64(binary.LittleEndian.Uint64(b[i-8:])), nil
		}
	}
	return 0, nil
}

// A manifestReader reads the list of files. After the first failure everything is zero.
type manifestReader struct {
	b      []byte
	failed bool
}

func (m *manifestReader) bytes(n uint64) []byte {
	if m.failed || n > uint64(len(m.b)) {
		m.failed, m.b = true, nil
		return make([]byte, 8)
	}
	b := m.b[:n]
	m.b = m.b[n:]
	return b
}

func (m *manifestReader) uint32() uint32 { return binary.LittleEndian.Uint32(m.bytes(4)) }
func (m *manifestReader) int64() int64   { return int64(binary.LittleEndian.Uint64(m.bytes(8))) }

// text reads a text with its length before it.
func (m *manifestReader) text() string {
	n, size := binary.Uvarint(m.b)
	if size <= 0 || n > longestText {
		m.failed = true
		return ""
	}
	m.bytes(uint64(size))
	return string(m.bytes(n))
}

// files reads the list.
func (m *manifestReader) files(size int64) []Bundled {
	major := m.uint32()
	m.uint32() // minor
	count := m.uint32()
	m.text() // the id of the bundle
	if major >= 2 {
		m.bytes(40) // where the two files with settings are, and flags
	}
	var all []Bundled
	for range count {
		f := Bundled{Offset: m.int64(), Size: m.int64()}
		if major >= 6 {
			packed := m.int64()
			f.Compressed = packed != 0
		}
		f.Assembly = m.bytes(1)[0] == 1
		f.Path = m.text()
		if !f.Compressed && (f.Offset < 0 || f.Size < 0 || f.Offset > size || f.Size > size-f.Offset) {
			m.failed = true
		}
		if m.failed {
			return nil
		}
		all = append(all, f)
	}
	return all
}
