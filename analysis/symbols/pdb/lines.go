package pdb

import "github.com/etwgen/etwgen/analysis/symbols"

// Lines finds the lines of the code of a trace. Its Source answers profiles that ask for
// lines.
type Lines struct {
	find   func(symbols.Module) *File
	files  map[symbols.Module]*File
	points map[method][]Point
	names  map[document]string
}

// A method and a document are of one file.
type (
	method struct {
		file  *File
		token uint32
	}
	document struct {
		file   *File
		number int
	}
)

// NewLines returns the lines that are in files that find returns: that of a module, or nil
// where there is none with its id. It is asked once for each module.
func NewLines(find func(symbols.Module) *File) *Lines {
	return &Lines{
		find: find, files: make(map[symbols.Module]*File), points: make(map[method][]Point), names: make(map[document]string),
	}
}

// Source returns the file and the line that the code at a location is of. The trace must
// have a map from the code to the IL: without one only the method is known.
func (l *Lines) Source(loc *symbols.Location) (file string, line int, ok bool) {
	il, ok := loc.ILOffset()
	if !ok {
		return "", 0, false
	}
	m := loc.Method()
	f := l.file(m.Module)
	if f == nil {
		return "", 0, false
	}
	p, ok := At(l.pointsOf(f, m.Token), il)
	if !ok {
		return "", 0, false
	}
	return l.name(f, p.Document), p.Line, true
}

// Document returns where a source file that Source has named is.
func (l *Lines) Document(name string) (f *File, number int, ok bool) {
	for d, known := range l.names {
		if known == name {
			return d.file, d.number, true
		}
	}
	return nil, 0, false
}

// file returns the PDB of a module, or nil.
func (l *Lines) file(m symbols.Module) *File {
	f, ok := l.files[m]
	if !ok {
		f = l.find(m)
		l.files[m] = f
	}
	return f
}

// maxPoints is how many points of methods are kept: methods may share long lists.
const maxPoints = 1 << 20

func (l *Lines) pointsOf(f *File, token uint32) []Point {
	key := method{f, token}
	points, ok := l.points[key]
	if !ok {
		points, _ = f.Points(token)
		if len(l.points) >= maxPoints/max(len(points), 16) {
			clear(l.points)
		}
		l.points[key] = points
	}
	return points
}

func (l *Lines) name(f *File, n int) string {
	key := document{f, n}
	name, ok := l.names[key]
	if !ok {
		d := f.Document(n)
		name = d.Name
		l.names[key] = name
	}
	return name
}
