package gen

import (
	"errors"
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
)

// A textKind is a view of a run of bytes: a string, a binary value or a SID.
// Without a length, strings end at a NUL and SIDs where they say.
type textKind struct {
	textType
	length size
}

// A textType names what generated code uses for a type of text.
type textType struct {
	name   string // the type, and the cursor's method without a length
	z      string // the writer's method without a length
	many   string // the type of an array, and the methods for it
	prefix string // of the names of all methods
	unit   int    // bytes of one unit of length
	min    int    // bytes without a length, at least
}

var textTypes = map[manifest.InType]textType{
	manifest.UnicodeString: {name: "UTF16", z: "UTF16Z", many: "UTF16s", unit: 2, min: 2},
	manifest.AnsiString:    {name: "ANSI", z: "ANSIZ", many: "ANSIs", unit: 1, min: 1},
	manifest.SID:           {name: "SID", z: "SID", many: "SIDs", unit: 1, min: 8},
	manifest.Binary:        {name: "Binary", many: "Binaries", unit: 1},

	manifest.CountedUnicodeString: {name: "UTF16", z: "UTF16", many: "UTF16s", prefix: "Counted", min: 2},
	manifest.CountedAnsiString:    {name: "ANSI", z: "ANSI", many: "ANSIs", prefix: "Counted", min: 2},
	manifest.CountedBinary:        {name: "Binary", z: "Binary", many: "Binaries", prefix: "Counted", min: 2},
}

func isText(t manifest.InType) bool {
	_, ok := textTypes[t]
	return ok
}

func newText(m *manifest.Field, length size) (kind, error) {
	k := textKind{textTypes[m.Type], length}
	switch {
	case length.kind == manifest.RestSize && m.Type == manifest.Binary:
		return restKind{}, nil
	case length.kind == manifest.RestSize:
		return nil, fmt.Errorf("only binary values can take the rest of a payload, not %s", m.Type)
	case length.kind == manifest.NoSize && k.z == "":
		return nil, errors.New("a binary value needs a length")
	}
	return k, nil
}

func (k textKind) goType() *jen.Statement { return etw(k.name) }

func (k textKind) least() (extent, bool) { return leastText(k.textType, k.length) }

func leastText(t textType, length size) (extent, bool) {
	switch length.kind {
	case manifest.ConstSize:
		return extent{bytes: t.unit * length.n}, true
	case manifest.FieldSize:
		return extent{}, false
	}
	return extent{bytes: t.min}, false
}

func (k textKind) read(c code, f *field) jen.Code {
	if k.length.kind == manifest.NoSize {
		return c.set(f, jen.Id("r").Dot(k.prefix+k.name).Call())
	}
	return c.set(f, jen.Id("r").Dot(k.name+"N").Call(c.size(k.length)))
}

func (k textKind) write(c code, f *field) jen.Code {
	if k.length.kind == manifest.NoSize {
		return jen.Id("w").Dot(k.prefix+k.z).Call(c.index(f), c.x(f))
	}
	return jen.Id("w").Dot(k.name+"N").Call(c.index(f), c.x(f), c.size(k.length))
}

func (k textKind) value(c code, f *field) *jen.Statement { return etw(k.name + "Value").Call(c.x(f)) }

// A restKind is all that is left of a payload.
type restKind struct{}

func (restKind) goType() *jen.Statement { return etw("Binary") }

func (restKind) least() (extent, bool) { return extent{}, false }

func (restKind) read(c code, f *field) jen.Code { return c.set(f, jen.Id("r").Dot("Rest").Call()) }

func (restKind) write(c code, f *field) jen.Code { return jen.Id("w").Dot("Rest").Call(c.x(f)) }

func (restKind) value(c code, f *field) *jen.Statement { return etw("BinaryValue").Call(c.x(f)) }
