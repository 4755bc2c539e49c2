package native

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
)

// A Dir is a folder with files of symbols, also in folders below it. Files are opened when
// they are asked for.
type Dir struct {
	pdbs     map[string][]string // paths by name, in lower case
	others   []string            // what may be ELF files
	images   map[string][]string // paths of what may be images of .NET, as pdbs
	ahead    map[imageID]*r2r.Image
	perfMaps map[int64]string
	tables   map[string]*loaded // by identity
	elves    map[string]string  // paths by build id; nil until they are known
	faults   []error
	faulty   map[string]bool
}

// A loaded is what a file has, or nothing if there is none.
type loaded struct {
	table *table
	elf   *elfFile
}

// maxFiles bounds how many files of a folder are looked at.
const maxFiles = 1 << 20

// Open returns the files of symbols in a folder.
func Open(path string) (*Dir, error) {
	d := &Dir{pdbs: make(map[string][]string), images: make(map[string][]string), ahead: make(map[imageID]*r2r.Image),
		perfMaps: make(map[int64]string), tables: make(map[string]*loaded), faulty: make(map[string]bool)}
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
	case strings.HasSuffix(name, ".dll"), strings.HasSuffix(name, ".exe"):
		d.images[name] = append(d.images[name], path)
	default:
		d.others = append(d.others, path)
	}
}

// scan reads the number of a process of perf-123.map.
func scan(name string, pid *int64) bool {
	_, err := fmt.Sscanf(name, "perf-%d.map", pid)
	return err == nil && name == fmt.Sprintf("perf-%d.map", *pid)
}

// Faults returns what could not be read of files that were to be.
func (d *Dir) Faults() []error { return d.faults }

// Name gives native code its function, if a file has it.
func (d *Dir) Name(n *symbols.Native) {
	if n.Function != "" || d.precompiled(n) {
		return
	}
	l := d.of(n)
	if l == nil {
		return
	}
	at := n.Offset
	if l.elf != nil {
		if !n.InFile {
			return
		}
		var ok bool
		if at, ok = l.elf.address(at); !ok {
			return
		}
	}
	if name, offset, ok := l.table.find(at); ok {
		n.Function, n.Offset = name, offset
	}
}

// Jitted returns the code that a process compiled itself, if there is a map of it. Such
// maps know no times.
func (d *Dir) Jitted(pid int64, address uint64) (symbols.Native, bool) {
	path, ok := d.perfMaps[pid]
	if !ok {
		return symbols.Native{}, false
	}
	l := d.load(path, func(f *os.File) (*loaded, error) {
		t, err := readPerfMap(f)
		return &loaded{table: t}, err
	})
	if l == nil {
		return symbols.Native{}, false
	}
	name, offset, ok := l.table.find(address)
	if !ok {
		return symbols.Native{}, false
	}
	return symbols.Jitted(name, offset), true
}

// of returns what is known of the code that n is of, or nil.
func (d *Dir) of(n *symbols.Native) *loaded {
	switch {
	case n.BuildID != "":
		return d.elf(strings.ToLower(n.BuildID))
	case n.PDB.Path != "":
		return d.pdb(n.PDB)
	}
	return nil
}

// load returns what read makes of a file, once. If that fails there is nothing.
func (d *Dir) load(path string, read func(*os.File) (*loaded, error)) *loaded {
	if l, ok := d.tables[path]; ok {
		return l
	}
	d.tables[path] = nil
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var l *loaded
		if l, err = read(f); err == nil {
			d.tables[path] = l
			return l
		}
	}
	d.fault(path, err)
	return nil
}

// fault notes why a file cannot be read.
func (d *Dir) fault(path string, err error) {
	if !d.faulty[path] {
		d.faulty[path] = true
		d.faults = append(d.faults, fmt.Errorf("%s: %w", path, err))
	}
}

var errOther = errors.New("native: it is of another image")

// pdb returns the functions of the PDB file with an identity.
func (d *Dir) pdb(id symbols.PDB) *loaded {
	key := fmt.Sprintf("%s %d", id.GUID, id.Age)
	if l, ok := d.tables[key]; ok {
		return l
	}
	d.tables[key] = nil
	for _, path := range d.pdbs[strings.ToLower(paths.Base(id.Path))] {
		l, err := openFile(path, func(f *os.File, size int64) (*loaded, error) {
			p, err := openPDB(f, size)
			if err != nil {
				return nil, err
			}
			if !p.is(id.GUID, id.Age) {
				return nil, errOther
			}
			t, err := p.functions()
			return &loaded{table: t}, err
		})
		if err == nil {
			d.tables[key] = l
			return l
		}
		if !errors.Is(err, errOther) {
			d.fault(path, err)
		}
	}
	return nil
}

func openFile(path string, read func(*os.File, int64) (*loaded, error)) (*loaded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return read(f, info.Size())
}

// elf returns the functions of the ELF file with a build id.
func (d *Dir) elf(id string) *loaded {
	if d.elves == nil {
		d.findELF()
	}
	path, ok := d.elves[id]
	if !ok {
		return nil
	}
	return d.load(path, func(f *os.File) (*loaded, error) {
		e, err := elf.NewFile(f)
		if err != nil {
			return nil, err
		}
		x, err := readELF(e)
		if err != nil {
			return nil, err
		}
		return &loaded{table: &x.table, elf: x}, nil
	})
}

// findELF finds the build ids of all files. Of several with one, that with a symbol table
// counts.
func (d *Dir) findELF() {
	d.elves = make(map[string]string)
	for _, path := range d.others {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		magic := make([]byte, 4)
		if _, err := f.ReadAt(magic, 0); err == nil && string(magic) == elf.ELFMAG {
			if e, err := elf.NewFile(f); err == nil {
				if id := buildID(e); id != "" && (d.elves[id] == "" || e.SectionByType(elf.SHT_SYMTAB) != nil) {
					d.elves[id] = path
				}
			}
		}
		f.Close()
	}
}
