package native

import (
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/analysis/symbols"
)

// elf names a place of an ELF file by the files with its build id.
func (d *Dir) elf(n *symbols.Native) Source {
	c := d.code(n)
	if c == nil {
		return FromNothing
	}
	at, ok := n.VirtualAddress, n.VirtualAddress != 0
	if n.InFile && c.hasIt {
		if at, ok = c.address(n.Offset); !ok && d.bundled(n) {
			return FromBundle
		}
	}
	if !ok {
		return FromNothing
	}
	return c.name(n, at, d.demangle)
}

// code returns the facts about the code with the build id of a place, or nil.
func (d *Dir) code(n *symbols.Native) *codeFile {
	id := strings.ToLower(n.BuildID)
	c, ok := d.codes[id]
	if !ok {
		c = d.findCode(id, n)
		d.codes[id] = c
	}
	return c
}

// findCode reads all files with a build id, and the debug files for them.
func (d *Dir) findCode(id string, n *symbols.Native) *codeFile {
	f := finder{dir: d, id: id, seen: make(map[string]bool)}
	for _, path := range d.withID(id) {
		f.take(path, true)
	}
	for _, path := range d.usual.candidates(n.Module) {
		if f.code != nil && f.code.hasIt {
			break
		}
		f.take(path, false)
	}
	if !f.full {
		for _, path := range append(d.called(f.link), d.usual.debugFiles(id, f.folder(), f.link)...) {
			if f.take(path, false); f.full {
				break
			}
		}
	}
	if !f.full {
		for path := range d.mayHave(n, nil) {
			f.take(path, true)
		}
	}
	if f.code != nil {
		f.code.finish()
	}
	return f.code
}

// withID returns the ELF files of the folder with a build id.
func (d *Dir) withID(id string) []string {
	if d.elves == nil {
		d.elves = make(map[string][]string)
		for _, path := range d.others {
			if id, err := openFile(path, elfID); err == nil && id != "" {
				d.elves[id] = append(d.elves[id], path)
			}
		}
	}
	return d.elves[id]
}

// elfID returns the build id of a file, or "" if it is another file.
func elfID(f *os.File, size int64) (string, error) {
	x, err := openELF(f, size)
	if err != nil {
		return "", err
	}
	return x.buildID(), nil
}

// called returns the files of the folder with the name of a debug file.
func (d *Dir) called(name string) []string {
	var all []string
	for _, path := range d.others {
		if name != "" && filepath.Base(path) == name {
			all = append(all, path)
		}
	}
	return all
}

// A finder joins the files with one build id.
type finder struct {
	dir    *Dir
	id     string
	code   *codeFile
	full   bool // there is a whole table of symbols
	origin string
	link   string // the name of the debug file
	sum    uint32 // of its bytes
	seen   map[string]bool
}

// folder returns the folder of the file with the code, or "".
func (f *finder) folder() string {
	if f.origin == "" {
		return ""
	}
	return filepath.Dir(f.origin)
}

// take joins a file if it is the one looked for. Only those that the user gave are at fault
// if they cannot be read.
func (f *finder) take(path string, given bool) {
	if f.seen[path] {
		return
	}
	f.seen[path] = true
	_, err := openFile(path, func(file *os.File, size int64) (bool, error) {
		x, err := openELF(file, size)
		if err != nil {
			return false, err
		}
		if id := x.buildID(); id != f.id && !f.isLinked(id, file, size) {
			return false, nil
		}
		c, err := readCode(x, &f.dir.unpack)
		if err != nil {
			return false, err
		}
		f.join(path, x, c)
		return true, nil
	})
	if err != nil && given && !errors.Is(err, errNoELF) {
		f.dir.fault(path, err)
	}
}

// isLinked reports whether a file without a build id is the debug file that the file with
// the code names.
func (f *finder) isLinked(id string, file io.ReaderAt, size int64) bool {
	if id != "" || f.link == "" {
		return false
	}
	sum := crc32.NewIEEE()
	_, err := io.Copy(sum, io.NewSectionReader(file, 0, size))
	return err == nil && sum.Sum32() == f.sum
}

func (f *finder) join(path string, x *elfFile, c *codeFile) {
	for i := range x.sections {
		f.full = f.full || x.sections[i].kind == sectionSymbols
	}
	if c.hasIt && f.origin == "" {
		f.origin = path
		f.link, f.sum = x.debugLink()
	}
	if f.code == nil {
		f.code = c
	} else {
		f.code.join(c)
	}
}

// debugLink returns the name of the debug file, and the check sum of its bytes, which
// stand behind the name at the next place that is a multiple of 4.
func (x *elfFile) debugLink() (name string, sum uint32) {
	b := x.part(".gnu_debuglink")
	if len(b) > math.MaxUint16 {
		return "", 0
	}
	name = textAt(string(b), 0)
	at := (len(name) + 4) &^ 3
	if name == "" || at+4 > len(b) {
		return "", 0
	}
	return name, x.order.Uint32(b[at:])
}
