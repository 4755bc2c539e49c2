package gen

import (
	"errors"
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A textKind is a view of a run of bytes: a string, a binary value or a SID.
// Without a length, strings end at a NUL and SIDs where they say.
type textKind struct {
	view
	textType
	length size
}

// A textType names the functions of generated code for a type of text.
type textType struct {
	name   string // the type, and the cursor's method without a length
	z      string // the appender's method without a length
	many   string // the type of an array, and the methods for it
	prefix string // of the names of all methods
	unit   int    // bytes of one unit of length
	min    int    // bytes without a length, at least
}

var textTypes = map[etw.InType]textType{
	etw.InUnicodeString: {name: "UTF16", z: "UTF16Z", many: "UTF16s", unit: 2, min: 2},
	etw.InAnsiString:    {name: "ANSI", z: "ANSIZ", many: "ANSIs", unit: 1, min: 1},
	etw.InSID:           {name: "SID", z: "SID", many: "SIDs", unit: 1, min: 8},
	etw.InBinary:        {name: "Binary", many: "Binaries", unit: 1},

	etw.InCountedUnicodeString: {name: "UTF16", z: "UTF16", many: "UTF16s", prefix: "Counted", min: 2},
	etw.InCountedAnsiString:    {name: "ANSI", z: "ANSI", many: "ANSIs", prefix: "Counted", min: 2},
	etw.InCountedBinary:        {name: "Binary", z: "Binary", many: "Binaries", prefix: "Counted", min: 2},
}

func isText(t etw.InType) bool {
	_, ok := textTypes[t]
	return ok
}

func newText(m *manifest.Field, length size) (kind, error) {
	k := textKind{textType: textTypes[m.Type], length: length}
	switch {
	case length.kind == etw.SizeRest && m.Type == etw.InBinary:
		return restKind{}, nil
	case length.kind == etw.SizeRest:
		return nil, fmt.Errorf("only binary values can take the rest of a payload, not %s", m.Type)
	case length.kind == etw.SizeNone && k.z == "":
		return nil, errors.New("a binary value needs a length")
	}
	return k, nil
}

func (k textKind) goType() goType { return goType{runtime: true, name: k.name} }

func (k textKind) sizes() (count, length size) { return size{}, k.length }

func (k textKind) least() (extent, bool) { return leastText(k.textType, k.length) }

func leastText(t textType, length size) (extent, bool) {
	switch length.kind {
	case etw.SizeConst:
		return inBytes(t.unit * length.n), true
	case etw.SizeField:
		return extent{}, false
	}
	return inBytes(t.min), false
}

func (k textKind) read(c code, f *field) jen.Code {
	if k.length.kind == etw.SizeNone {
		return c.set(f, dot("c", k.prefix+k.name).Call())
	}
	return c.set(f, dot("c", k.name+"N").Call(c.size(k.length)))
}

func (k textKind) write(c code, f *field) jen.Code {
	if k.length.kind == etw.SizeNone {
		return dot("a", k.prefix+k.z).Call(c.index(f), c.x(f))
	}
	return dot("a", k.name+"N").Call(c.index(f), c.x(f), c.size(k.length))
}

func (k textKind) value(c code, f *field) *jen.Statement { return rt(k.name + "Value").Call(c.x(f)) }

// A restKind is all that is left of a payload.
type restKind struct{ view }

func (restKind) goType() goType { return goType{runtime: true, name: "Binary"} }

func (restKind) sizes() (count, length size) { return size{}, size{kind: etw.SizeRest} }

func (restKind) least() (extent, bool) { return extent{}, false }

func (restKind) read(c code, f *field) jen.Code { return c.set(f, dot("c", "Rest").Call()) }

func (restKind) write(c code, f *field) jen.Code { return dot("a", "Rest").Call(c.x(f)) }

func (restKind) value(c code, f *field) *jen.Statement { return rt("BinaryValue").Call(c.x(f)) }
