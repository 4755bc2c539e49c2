package native

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	portable "github.com/etwgen/etwgen/analysis/symbols/pdb"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Lines returns the lines of the code of a module: the portable PDB of the same build,
// which lies in the folder, or within the module there, or elsewhere. It is nil if there is none.
func (d *Dir) Lines(m symbols.Module) *portable.File {
	if m.PDB.GUID.IsZero() {
		return nil
	}
	names := []string{paths.Base(m.PDB.Path), m.Name() + ".pdb"}
	for i, name := range names {
		if i > 0 && strings.EqualFold(name, names[0]) {
			continue
		}
		for _, path := range d.pdbs[strings.ToLower(name)] {
			if f := d.linesOf(path, m.PDB.GUID, portable.Open); f != nil {
				return f
			}
		}
	}
	for _, path := range d.images[strings.ToLower(paths.Base(m.ILPath))] {
		if f := d.linesOf(path, m.PDB.GUID, openEmbedded); f != nil {
			return f
		}
	}
	if d.linesAt == nil {
		return nil
	}
	path := d.linesAt(m, d.checksum(m))
	if path == "" {
		return nil
	}
	return d.linesOf(path, m.PDB.GUID, portable.Open)
}

// checksum returns the checksum of the PDB of a module, if the module is at hand.
func (d *Dir) checksum(m symbols.Module) string {
	for _, path := range slices.Concat(d.images[strings.ToLower(paths.Base(m.ILPath))], d.usual.candidates(m.ILPath)) {
		data, err := readFile(path)
		if err != nil {
			continue
		}
		if ref, err := portable.References(data); err == nil && etw.GUID(ref.ID.GUID()) == m.PDB.GUID {
			return ref.Checksum
		}
	}
	return ""
}

// openEmbedded returns the PDB within an assembly, or nil.
func openEmbedded(assembly []byte) (*portable.File, error) {
	ref, err := portable.References(assembly)
	if err != nil {
		return nil, err
	}
	return ref.Open()
}

// linesOf returns the PDB of a file if it is that with a GUID. A PDB of another build is one
// that nobody asked for: that is noted.
func (d *Dir) linesOf(path string, want etw.GUID, open func([]byte) (*portable.File, error)) *portable.File {
	data, err := openFile(path, func(f *os.File, size int64) ([]byte, error) {
		if size > maxImage {
			return nil, errLarge
		}
		return io.ReadAll(io.LimitReader(f, size))
	})
	var found *portable.File
	if err == nil {
		found, err = open(data)
	}
	switch {
	case errors.Is(err, portable.ErrNoReference), errors.Is(err, portable.ErrWindows), found == nil && err == nil:
		return nil
	case err != nil:
		d.fault(path, err)
		return nil
	case etw.GUID(found.ID.GUID()) != want:
		d.fault(path, &otherBuildError{want, found.ID.GUID()})
		return nil
	}
	return found
}

var errLarge = errors.New("native: it is too large for a file of symbols")

// An otherBuildError says that a file is of another build than the module in the trace.
type otherBuildError struct{ want, got etw.GUID }

func (e *otherBuildError) Error() string {
	return "its lines are of another build: its id is " + e.got.String() + ", that of the module in the trace " + e.want.String()
}
