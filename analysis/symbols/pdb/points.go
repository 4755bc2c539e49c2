package pdb

import (
	"errors"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// A Point says which part of a source file the code from an offset on is of, up to the
// next point. Lines and columns count from 1, columns in units of UTF-16; the end is the
// column behind the last one.
type Point struct {
	IL                 int
	Document           int
	Line, Column       int
	EndLine, EndColumn int
	// Hidden code is of no line: it is the compiler's own.
	Hidden bool
}

// hiddenLine is how some say that a point is hidden.
const hiddenLine = 0xfeefee

// most is the greatest offset, line and column.
const most = 1 << 29

var errPoints = errors.New("pdb: the lines of the method are damaged")

// Points returns the points of a method, in the order of their offsets. A method without
// code of its own, such as an async one, has none.
func (f *File) Points(token uint32) ([]Point, error) {
	r := row(token)
	if r == 0 || r > f.methods {
		return nil, nil
	}
	blob := f.m.Blob(f.m.Cell(ecma335.MethodDebugInformation, r, 1))
	if len(blob) == 0 {
		return nil, nil
	}
	d := pointDecoder{c: ecma335.NewCursor(blob), documents: f.Documents()}
	d.c.Uint() // the signature of local variables
	d.at.Document = int(f.m.Cell(ecma335.MethodDebugInformation, r, 0))
	if d.at.Document == 0 {
		d.at.Document = int(d.c.Uint())
	}
	return d.all()
}

// A pointDecoder reads the points of a method, each of which says how it differs from the
// one before.
type pointDecoder struct {
	c         *ecma335.Cursor
	documents int
	at        Point // the last one
	visible   Point // the last that was not hidden
	seen      bool  // there was one
	list      []Point
}

func (d *pointDecoder) all() ([]Point, error) {
	for records := 0; d.c.Left() > 0; records++ {
		delta := d.c.Uint()
		if delta == 0 && records > 0 {
			d.at.Document = int(d.c.Uint())
			continue
		}
		d.at.IL += int(delta)
		if !d.next() || d.at.IL >= most || d.at.Document < 1 || d.at.Document > d.documents {
			return nil, errPoints
		}
		d.list = append(d.list, d.at)
	}
	if d.c.Failed() {
		return nil, errPoints
	}
	return d.list, nil
}

// next reads the rest of a point after its offset, and reports whether it makes sense.
func (d *pointDecoder) next() bool {
	lines, columns := int(d.c.Uint()), 0
	if lines == 0 {
		columns = int(d.c.Uint())
	} else {
		columns = int(d.c.Int())
	}
	p := &d.at
	if lines == 0 && columns == 0 {
		*p = Point{IL: p.IL, Document: p.Document, Hidden: true}
		return !d.c.Failed()
	}
	line, column := 0, 0
	if d.seen {
		line, column = d.visible.Line+int(d.c.Int()), d.visible.Column+int(d.c.Int())
	} else {
		line, column = int(d.c.Uint()), int(d.c.Uint())
	}
	*p = Point{IL: p.IL, Document: p.Document, Line: line, Column: column, EndLine: line + lines, EndColumn: column + columns}
	d.visible, d.seen = *p, true
	p.Hidden = line == hiddenLine
	return !d.c.Failed() && line >= 0 && column >= 0 && line < most && column < most && p.EndLine < most && p.EndColumn >= 0
}

// At returns the point that an offset in the IL of a method is of. Of hidden code that is
// the point before it; there may be none, as of the code by which a state machine is
// entered.
func (f *File) At(token uint32, il int) (Point, bool) {
	points, err := f.Points(token)
	if err != nil {
		return Point{}, false
	}
	return At(points, il)
}

// At is [File.At] for who keeps the points of a method.
func At(points []Point, il int) (Point, bool) {
	last, visible := -1, -1
	for i := range points {
		if points[i].IL > il {
			break
		}
		last = i
		if !points[i].Hidden {
			visible = i
		}
	}
	if last < 0 && len(points) > 0 && !points[0].Hidden {
		visible = 0
	}
	if visible < 0 {
		return Point{}, false
	}
	return points[visible], true
}

// First returns the first point of a method that is not hidden: where it begins, if
// nothing is known of the code within.
func (f *File) First(token uint32) (Point, bool) {
	points, _ := f.Points(token)
	for _, p := range points {
		if !p.Hidden {
			return p, true
		}
	}
	return Point{}, false
}
