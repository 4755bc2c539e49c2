package native

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/r2r"
)

// A bundle is a program of .NET that is a single file, with the images in it.
type bundle struct {
	path   string
	files  []r2r.Bundled
	images map[int64]*r2r.Image // by where they are; nil if they have no code

	live *os.Root // of the process that has the file in memory, nil if nobody knows that one has
	// apart says that it is an image by itself; assemblies that it has the code of lie beside it.
	apart bool
}

// bundled names a place in an image inside of a program, and reports whether it could. All
// such programs that one version of .NET made have one build id. So a program must also
// have the name, and sections of an image must be where the trace says they were mapped
// from.
func (d *Dir) bundled(n *symbols.Native) bool {
	for _, b := range d.bundlesOf(n) {
		if x, at := b.image(n); x != nil && method(n, x, at) {
			return true
		}
	}
	return false
}

// A programID is the path of a program in a trace, and its build id.
type programID struct{ path, id string }

// bundlesOf returns the programs that a place may be in.
func (d *Dir) bundlesOf(n *symbols.Native) []*bundle {
	key := programID{n.Module, strings.ToLower(n.BuildID)}
	all, ok := d.bundles[key]
	if ok {
		return all
	}
	given := d.withID(key.id)
	for i, file := range slices.Concat(given, d.usual.candidates(key.path)) {
		if filepath.Base(file) != paths.Base(key.path) {
			continue
		}
		b, err := openBundle(file, key.id)
		switch {
		case b != nil:
			all = append(all, b)
		case err != nil && i < len(given) && !errors.Is(err, r2r.ErrNoBundle):
			d.fault(file, err)
		}
	}
	d.bundles[key] = all
	return all
}

// openBundle returns the bundle inside a program, or nil if it is another one.
func openBundle(path, id string) (*bundle, error) {
	return openFile(path, func(f *os.File, size int64) (*bundle, error) {
		if is, err := elfID(f, size); err != nil || is != id {
			return nil, err
		}
		files, err := r2r.ReadBundle(f, size)
		if err != nil {
			return nil, err
		}
		return &bundle{path: path, files: files, images: make(map[int64]*r2r.Image)}, nil
	})
}

// image returns the image that has a place in the program, and where that is in it.
func (b *bundle) image(n *symbols.Native) (*r2r.Image, uint64) {
	for i := range b.files {
		f := &b.files[i]
		if f.Compressed || n.Offset < uint64(f.Offset) || n.Offset-uint64(f.Offset) >= uint64(f.Size) {
			continue
		}
		x, ok := b.images[f.Offset]
		if !ok {
			x, _ = b.read(f) // others than images are inside, too
			b.images[f.Offset] = x
		}
		if x == nil || b.live == nil && !x.IsMapped(uint64(f.Offset), n.MapOffset, n.MapSize) {
			return nil, 0
		}
		return x, n.Offset - uint64(f.Offset)
	}
	return nil, 0
}

// read reads an image, and of a composite one the assemblies that it has the code of.
func (b *bundle) read(f *r2r.Bundled) (*r2r.Image, error) {
	data, err := b.data(f)
	if err != nil {
		return nil, err
	}
	x, err := r2r.Parse(data)
	if err != nil {
		return nil, err
	}
	for _, c := range x.Components() {
		f := &r2r.Bundled{Path: c + ".dll", Size: maxImage}
		if !b.apart {
			i := slices.IndexFunc(b.files, func(f r2r.Bundled) bool { return f.Path == c+".dll" && !f.Compressed })
			if i < 0 {
				continue
			}
			f = &b.files[i]
		}
		if data, err := b.data(f); err == nil {
			_ = x.Attach(c, data) // its methods have no names if it is another
		}
	}
	return x, nil
}

func (b *bundle) data(f *r2r.Bundled) ([]byte, error) {
	if f.Size > maxImage {
		return nil, errTooLarge
	}
	read := func(file *os.File, _ int64) ([]byte, error) {
		return io.ReadAll(io.NewSectionReader(file, f.Offset, f.Size))
	}
	switch {
	case b.live == nil:
		return openFile(b.path, read)
	case b.apart:
		return openIn(b.live, path.Join(path.Dir(b.path), f.Path), read)
	}
	return openIn(b.live, b.path, read)
}
