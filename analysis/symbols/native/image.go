package native

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Files of .NET with code that was compiled ahead of time have the names of their methods
// themselves.

// An imageID is the name of a file, in lower case, and the known part of its build.
type imageID struct {
	name  string
	pdb   etw.GUID
	stamp uint32
}

// maxImage bounds files that are read into memory.
const maxImage = 1 << 30

var (
	errBuild   = errors.New("it is of another build than the file that was recorded")
	errNoBuild = errors.New("the trace does not say of which build the file of this name was")
)

// precompiled names a method that was compiled ahead of time, and reports whether it could.
func (d *Dir) precompiled(n *symbols.Native) bool {
	id := imageID{strings.ToLower(paths.Base(n.Module)), n.PDB.GUID, n.TimeDateStamp}
	if ext := filepath.Ext(id.name); ext != ".dll" && ext != ".exe" {
		return false
	}
	x, ok := d.ahead[id]
	if !ok {
		x = d.findImage(id, n)
		d.ahead[id] = x
	}
	return x != nil && method(n, x, n.Offset)
}

// thunkName is the function of code that looks for a method when it is first called.
const thunkName = "[import thunk]"

// method names a place in an image, and reports whether it could. at is where it is in the
// file, or in memory, as n says.
func method(n *symbols.Native, x *r2r.Image, at uint64) bool {
	rva, ok := uint32(at), at < 1<<32
	if n.InFile {
		rva, ok = x.RVA(at)
	}
	if !ok {
		return false
	}
	m, ok := x.Lookup(rva)
	if !ok {
		if start, ok := x.Thunk(rva); ok {
			n.Function, n.Offset, n.InFile = thunkName, uint64(rva-start), false
			return true
		}
		return false
	}
	name := m.Name()
	if name.Method == "" {
		return false
	}
	// As the same method is called when it is compiled at run time: by maps for perf on
	// Linux, whose offsets are of files, and by events on Windows.
	arguments := name.Arguments
	if !n.InFile {
		_, arguments, _ = strings.Cut(name.Signature, "  ")
	}
	n.Function, n.Type, n.Tier = name.Namespace+"."+name.Method+arguments, name.Namespace, "ReadyToRun"
	if assembly := m.Assembly(); assembly != "" {
		n.Module = assembly
	}
	n.Offset, n.InFile = uint64(rva-m.Start()), false
	return true
}

// findImage returns the image of .NET with an identity that has a place, or nil. One that is
// elsewhere is asked for if it is known to be of .NET.
func (d *Dir) findImage(id imageID, n *symbols.Native) *r2r.Image {
	list := d.images[id.name]
	if id.pdb == (etw.GUID{}) && id.stamp == 0 {
		if len(list) > 0 {
			d.fault(list[0], errNoBuild)
		}
		return nil
	}
	var wrong []string
	for _, path := range list {
		x, err := readImage(path)
		switch {
		case errors.Is(err, r2r.ErrNoCode):
		case err != nil:
			d.fault(path, err)
		case !id.is(x):
			wrong = append(wrong, path)
		default:
			d.attach(x, filepath.Dir(path))
			return x
		}
	}
	others := d.usual.candidates(n.Module) // nobody said that it is one of these
	if n.IL {
		others = slices.AppendSeq(others, d.mayHave(n, nil))
	}
	for _, path := range others {
		if x, err := readImage(path); err == nil && id.is(x) {
			d.attach(x, filepath.Dir(path))
			return x
		}
	}
	for _, path := range wrong {
		d.fault(path, errBuild)
	}
	return nil
}

// is reports whether an image has an identity: all that is known of it must agree.
func (id imageID) is(x *r2r.Image) bool {
	if id.stamp != 0 && id.stamp != x.TimeDateStamp {
		return false
	}
	if id.pdb == (etw.GUID{}) {
		return true
	}
	return slices.ContainsFunc(x.PDBs(), func(p r2r.PDB) bool { return etw.GUID(p.Signature) == id.pdb })
}

// attach gives a composite image the assemblies that it has the code of, which are beside
// it. In usual folders those of another build are left out in silence.
func (d *Dir) attach(x *r2r.Image, folder string) {
	for _, c := range x.Components() {
		for _, path := range d.images[strings.ToLower(c)+".dll"] {
			if filepath.Dir(path) != folder {
				continue
			}
			data, err := readFile(path)
			if err == nil {
				err = x.Attach(c, data)
			}
			if err != nil {
				d.fault(path, err)
			}
		}
		if path, ok := d.usual.regular(filepath.Join(folder, c+".dll")); ok && filepath.Base(path) == c+".dll" {
			if data, err := readFile(path); err == nil {
				_ = x.Attach(c, data)
			}
		}
	}
}

func readImage(path string) (*r2r.Image, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return r2r.Parse(data)
}

var errTooLarge = fmt.Errorf("native: images have at most %d bytes", maxImage)

// readFile reads a file that is not too large for one.
func readFile(path string) ([]byte, error) {
	return openFile(path, func(f *os.File, size int64) ([]byte, error) {
		if size > maxImage {
			return nil, errTooLarge
		}
		return io.ReadAll(io.LimitReader(f, maxImage))
	})
}
