package native

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/internal/perfmap"
	"github.com/etwgen/etwgen/internal/quota"
)

// A Live names methods that were compiled ahead of time in a process that runs, and functions
// of native code, as Linux tells of it: by the files that it has in memory. They are read when
// they are first needed.
type Live struct {
	root   *os.Root
	areas  []mapped // with code, in their order
	files  map[string]*bundle
	codes  map[string]*codeFile // nil of those that are no ELF files
	unpack quota.Quota
}

// A mapped is an area of memory that has a part of a file.
type mapped struct {
	start, end, offset uint64
	path               string
}

// NewLive returns a Live of a process, by the kernel's list of its areas. Files are opened
// in root, the folder that is the root of the process's.
func NewLive(maps io.Reader, root *os.Root) (*Live, error) {
	l := &Live{root: root, files: make(map[string]*bundle), codes: make(map[string]*codeFile), unpack: unpackedOfDir}
	err := perfmap.Lines(maps, func(line string) {
		// from-to, rights, offset, device, number of the file, path
		f := strings.Fields(line)
		if len(f) < 6 || !strings.Contains(f[1], "x") {
			return
		}
		from, to, _ := strings.Cut(f[0], "-")
		var m mapped
		var errs [3]error
		m.start, errs[0] = strconv.ParseUint(from, 16, 64)
		m.end, errs[1] = strconv.ParseUint(to, 16, 64)
		m.offset, errs[2] = strconv.ParseUint(f[2], 16, 64)
		m.path = line[strings.Index(line, f[5]):]
		if errs == [3]error{} && (strings.HasPrefix(m.path, "/") || m.path == vdsoName) {
			l.areas = append(l.areas, m)
		}
	})
	order.ByKey(l.areas, func(m *mapped) uint64 { return m.start })
	return l, err
}

// Name returns the method or the function that has an address. Of native code that it has no
// name of there is the file.
func (l *Live) Name(address uint64) (symbols.Native, bool) {
	i, found := slices.BinarySearchFunc(l.areas, address, func(m mapped, at uint64) int { return cmp.Compare(m.start, at) })
	if !found {
		i--
	}
	if i < 0 || address >= l.areas[i].end {
		return symbols.Native{}, false
	}
	m := &l.areas[i]
	n := symbols.Native{Module: m.path, Offset: address - m.start + m.offset, InFile: true, MapOffset: m.offset, MapSize: m.end - m.start}
	if m.path == vdsoName { // which is in no file
		return n, false
	}
	if b := l.file(m.path); b != nil {
		if x, at := b.image(&n); x != nil {
			if method(&n, x, at) {
				return n, true
			}
			return symbols.Native{}, false
		}
	}
	c := l.code(m.path)
	if c == nil {
		return symbols.Native{}, false
	}
	at, ok := c.address(n.Offset)
	return n, ok && c.name(&n, at, strings.Clone) == FromELF
}

// code returns the functions of a file, nil if it is no ELF file.
func (l *Live) code(path string) *codeFile {
	c, ok := l.codes[path]
	if !ok {
		c, _ = openIn(l.root, path, func(f *os.File, size int64) (*codeFile, error) {
			x, err := openELF(f, size)
			if err != nil {
				return nil, err
			}
			return readCode(x, &l.unpack)
		})
		if c != nil {
			c.finish()
		}
		l.codes[path] = c
	}
	return c
}

// file returns the images of a file: itself, or those inside. It is nil if it is no file
// of .NET.
func (l *Live) file(path string) *bundle {
	b, ok := l.files[path]
	if !ok {
		var err error
		if b, err = l.open(path); err != nil { // as of libraries
			b = nil
		}
		l.files[path] = b
	}
	return b
}

func (l *Live) open(path string) (*bundle, error) {
	return openIn(l.root, path, func(f *os.File, size int64) (*bundle, error) {
		b := &bundle{path: path, live: l.root, images: make(map[int64]*r2r.Image)}
		var err error
		var magic [2]byte
		if _, err = f.ReadAt(magic[:], 0); err == nil && string(magic[:]) == "MZ" {
			b.apart, b.files = true, []r2r.Bundled{{Path: filepath.Base(path), Size: size}}
			return b, nil
		}
		b.files, err = r2r.ReadBundle(f, size)
		return b, err
	})
}

// openIn opens a regular file as openFile does, below a folder that it does not lead out of.
func openIn[T any](root *os.Root, path string, read func(*os.File, int64) (T, error)) (T, error) {
	return openBy(root.Lstat, root.Open, strings.TrimPrefix(path, "/"), read)
}
