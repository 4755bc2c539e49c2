package native

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/internal/quota"
)

// A Dir is a folder with files of symbols, also in folders below it. Files are opened when
// they are asked for.
type Dir struct {
	pdbs      map[string][]string // paths by name, in lower case
	others    []string            // files that may be of ELF
	images    map[string][]string // paths of files that may be images of .NET, as pdbs
	kernels   []string            // lists of symbols of a kernel
	perfMaps  map[int64]string
	usual     *usualPlaces // nil if no others than the folder's files are looked at
	demangler func(string) string
	elsewhere func(*symbols.Native) []string // nil if no files are looked for elsewhere
	linesAt   func(symbols.Module, string) string

	ahead   map[imageID]*r2r.Image
	linked  map[imageID]symbols.PDB // by images of which a trace tells the build alone
	tables  map[string]*table       // by path, or identity
	codes   map[string]*codeFile    // by build id
	elves   map[string][]string     // paths of ELF files by build id; nil until they are known
	bundles map[programID][]*bundle
	vdsos   []vdso            // nil until they are known
	plain   map[string]string // demangled names
	unpack  quota.Quota       // of symbols that files have packed
	faults  []error
	faulty  map[string]bool
}

// maxFiles bounds how many files of a folder are looked at.
const maxFiles = 1 << 20

// Open returns the files of symbols in a folder. If its path is "" there are none but
// those that options add.
func Open(path string, options ...Option) (*Dir, error) {
	d := &Dir{pdbs: make(map[string][]string), images: make(map[string][]string), perfMaps: make(map[int64]string),
		ahead: make(map[imageID]*r2r.Image), linked: make(map[imageID]symbols.PDB), tables: make(map[string]*table), codes: make(map[string]*codeFile),
		bundles: make(map[programID][]*bundle), plain: make(map[string]string), faulty: make(map[string]bool), unpack: unpackedOfDir}
	for _, o := range options {
		o(d)
	}
	if path == "" {
		return d, nil
	}
	n := 0
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && p == path:
			return err
		case err != nil, !e.Type().IsRegular():
			return nil
		}
		if n++; n > maxFiles {
			return fmt.Errorf("native: %s has more than %d files", path, maxFiles)
		}
		d.add(p, strings.ToLower(e.Name()))
		return nil
	})
	return d, err
}

func (d *Dir) add(path, name string) {
	var pid int64
	switch {
	case strings.HasSuffix(name, ".pdb"):
		d.pdbs[name] = append(d.pdbs[name], path)
	case scan(name, &pid):
		d.perfMaps[pid] = path
	case name == "kallsyms", name == "kallsyms.txt":
		d.kernels = append(d.kernels, path)
	case strings.HasSuffix(name, ".dll"), strings.HasSuffix(name, ".exe"), strings.HasSuffix(name, ".sys"):
		d.images[name] = append(d.images[name], path)
	default:
		d.others = append(d.others, path)
	}
}

// scan reads the number of a process of perf-123.map, or of jit-123.dump, in whose place the
// map is taken that comes behind it in the same folder.
func scan(name string, pid *int64) bool {
	for _, form := range []string{"perf-%d.map", "jit-%d.dump"} {
		if _, err := fmt.Sscanf(name, form, pid); err == nil && name == fmt.Sprintf(form, *pid) {
			return true
		}
	}
	return false
}

// Faults returns the errors of files that could not be read.
func (d *Dir) Faults() []error { return d.faults }

// Name gives native code its function, if a file has it, and returns which kind of file.
func (d *Dir) Name(n *symbols.Native) Source {
	switch {
	case n.Function != "":
		return FromNothing
	case d.precompiled(n):
		return FromDotNet
	case n.BuildID != "":
		return d.elf(n)
	case n.Module == vdsoName:
		return d.vdso(n)
	}
	if d.identify(n); n.PDB.Path != "" {
		if t := d.pdb(n); t != nil && d.named(n, t, n.Offset) {
			return FromPDB
		}
	}
	return FromNothing
}

// named names a place by a table.
func (d *Dir) named(n *symbols.Native, t *table, at uint64) bool {
	name, offset, ok := t.find(at)
	if ok {
		n.Function, n.Offset, n.InFile = d.demangle(name), offset, false
	}
	return ok
}

// demangle returns a name as people know it.
func (d *Dir) demangle(name string) string {
	if d.demangler == nil {
		return name
	}
	plain, ok := d.plain[name]
	if !ok {
		mangled, stub := strings.CutSuffix(name, "@plt")
		plain = d.demangler(mangled)
		if stub {
			plain += "@plt"
		}
		d.plain[name] = plain
	}
	return plain
}

// Jitted returns the code that a process compiled itself, if there is a map of it. Such
// maps know no times.
func (d *Dir) Jitted(pid int64, address uint64) (symbols.Native, bool) {
	path, ok := d.perfMaps[pid]
	if !ok {
		return symbols.Native{}, false
	}
	t := d.load(path, func(f *os.File) (*table, error) { return readPerfMap(f) })
	if t == nil {
		return symbols.Native{}, false
	}
	name, offset, ok := t.find(address)
	if !ok {
		return symbols.Native{}, false
	}
	return symbols.Jitted(name, offset), true
}

// load returns the result of read for a file, once. If that fails it may be a part.
func (d *Dir) load(path string, read func(*os.File) (*table, error)) *table {
	if t, ok := d.tables[path]; ok {
		return t
	}
	t, err := openFile(path, func(f *os.File, _ int64) (*table, error) { return read(f) })
	if err != nil {
		d.fault(path, err)
	}
	d.tables[path] = t
	return t
}

// fault notes why a file cannot be read.
func (d *Dir) fault(path string, err error) {
	if !d.faulty[path] {
		d.faulty[path] = true
		d.faults = append(d.faults, fmt.Errorf("%s: %w", path, err))
	}
}

var errOther = errors.New("native: it is of another image")

// pdb returns the functions of the PDB file that a place tells of.
func (d *Dir) pdb(n *symbols.Native) *table {
	id := n.PDB
	key := fmt.Sprintf("%s %d", id.GUID, id.Age)
	if t, ok := d.tables[key]; ok {
		return t
	}
	d.tables[key] = nil
	for path := range d.mayHave(n, d.pdbs[strings.ToLower(paths.Base(id.Path))]) {
		t, err := openFile(path, func(f *os.File, size int64) (*table, error) {
			p, err := openPDB(f, size)
			if err != nil {
				return nil, err
			}
			if !p.is(id.GUID, id.Age) {
				return nil, errOther
			}
			return p.functions()
		})
		if err == nil {
			d.tables[key] = t
			return t
		}
		if !errors.Is(err, errOther) {
			d.fault(path, err)
		}
	}
	return nil
}

// mayHave returns files of the folder, and then, if nobody has had enough, those elsewhere.
func (d *Dir) mayHave(n *symbols.Native, given []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, path := range given {
			if !yield(path) {
				return
			}
		}
		if d.elsewhere == nil {
			return
		}
		for _, path := range d.elsewhere(n) {
			if !yield(path) {
				return
			}
		}
	}
}

var errIrregular = errors.New("native: it is not a regular file")

// openFile opens a regular file, and no other, which might be a device, or keep one
// waiting.
func openFile[T any](path string, read func(*os.File, int64) (T, error)) (T, error) {
	return openBy(os.Stat, os.Open, path, read)
}

// openBy does so by the functions that tell of files and open them.
func openBy[T any](stat func(string) (os.FileInfo, error), open func(string) (*os.File, error), path string, read func(*os.File, int64) (T, error)) (T, error) {
	var nothing T
	info, err := stat(path)
	if err != nil {
		return nothing, err
	}
	if !info.Mode().IsRegular() {
		return nothing, errIrregular
	}
	f, err := open(path)
	if err != nil {
		return nothing, err
	}
	defer f.Close()
	return read(f, info.Size())
}
