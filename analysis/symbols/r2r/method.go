package r2r

import "github.com/etwgen/etwgen/internal/ecma335"

// A Method is a piece of code of an image: a method with its handlers of exceptions, or
// the part of one that was put apart since it hardly runs.
type Method struct {
	span
	image *Image
}

// Start returns the address, from the base of the image.
func (m Method) Start() uint32 { return m.start }

// Size returns how many bytes the code has.
func (m Method) Size() uint32 { return m.end - m.start }

// Cold reports whether this is a part that was put apart.
func (m Method) Cold() bool { return m.cold }

// Assembly returns the name of the assembly that has the method, or "" if it is not known.
func (m Method) Assembly() string {
	x := m.image
	meta := x.own
	if i := m.source.component; i >= 0 {
		return x.components[i].name
	} else if i == isInstance {
		s := signature{Cursor: ecma335.NewCursor(x.instances[m.source.at:]), image: x, out: new(printer)}
		s.method()
		meta = s.owner
	}
	if meta == nil {
		return ""
	}
	return meta.String(meta.Cell(ecma335.Assembly, 1, 7))
}

// A Name is the runtime's name of a method. It is zero if the metadata is not at hand, or
// has no such method.
type Name struct {
	Namespace string // the type, with its namespace and type arguments
	Method    string
	Signature string // as in instance void  (int32,class System.String)
	Arguments string // as maps for perf have them: (int32,string)
}

// Name returns the name.
func (m Method) Name() Name {
	x := m.image
	switch i := m.source.component; {
	case i == isInstance:
		return x.instanceName(m.source.at)
	case i == ofImage:
		return rowName(x.own, m.source.at)
	default:
		return rowName(x.attached[lower(x.components[i].name)], m.source.at)
	}
}

// rowName returns the name of a method that no types are put into.
func rowName(m *ecma335.Metadata, row uint32) Name {
	if m == nil || row > m.Rows(ecma335.MethodDef) {
		return Name{}
	}
	n := nameOf(m, ecma335.MakeToken(ecma335.MethodDef, row))
	var p printer
	p.typeName(m, ecma335.MakeToken(ecma335.TypeDef, m.Owner(ecma335.TypeDef, ecma335.TypeDefMethods, row)))
	n.Namespace = p.String()
	return n
}

// nameOf returns the name of a method without that of its type.
func nameOf(m *ecma335.Metadata, t ecma335.Token) Name {
	_, name, sig := m.MethodOf(t)
	n := Name{Method: name}
	if s, ok := ecma335.MethodSignature(sig); ok {
		var events printer
		events.signature(m, s)
		maps := printer{maps: true}
		maps.arguments(m, s)
		n.Signature, n.Arguments = events.String(), maps.String()
	}
	return n
}

// instanceName returns the name of a method of which the table of instances has an entry.
func (x *Image) instanceName(at uint32) Name {
	s := signature{Cursor: ecma335.NewCursor(x.instances[at:]), image: x, out: new(printer)}
	token := s.method()
	if s.Failed() || s.unknown || s.owner == nil || token.Row() == 0 || token.Row() > s.owner.Rows(token.Table()) {
		return Name{}
	}
	n := nameOf(s.owner, token)
	n.Namespace = s.out.String()
	if !s.owned { // a method with type arguments, of a type that has none
		parent, _, _ := s.owner.MethodOf(token)
		var p printer
		p.typeName(s.owner, parent)
		n.Namespace = p.String()
	}
	return n
}
