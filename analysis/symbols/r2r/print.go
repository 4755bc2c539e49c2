package r2r

import (
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// longestText bounds names and signatures. A file can have some that grow with every type
// that is put into another.
const longestText = 1 << 15

// mostSpecs bounds how many types are looked up that signatures have in a table of their
// own, where they can refer to themselves.
const mostSpecs = 16

// A printer makes the text of a type or signature.
type printer struct {
	b     strings.Builder
	maps  bool // as maps for perf have signatures, not as events do
	specs int  // that were looked up
}

// String returns the text.
func (p *printer) String() string { return p.b.String() }

// add appends text as far as there is room.
func (p *printer) add(text string) {
	p.b.WriteString(text[:min(len(text), longestText-p.b.Len())])
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// dimensions returns the dimensions after the element type of an array.
func dimensions(rank uint32, one string) string {
	if rank <= 1 {
		return one
	}
	return "[" + strings.Repeat(",", int(min(rank, highestRank))-1) + "]"
}

// typeNames has the full names of types that signatures have no token for.
var typeNames = map[ecma335.ElementType]string{
	ecma335.Void: "System.Void", ecma335.Boolean: "System.Boolean", ecma335.Char: "System.Char",
	ecma335.I1: "System.SByte", ecma335.U1: "System.Byte", ecma335.I2: "System.Int16", ecma335.U2: "System.UInt16",
	ecma335.I4: "System.Int32", ecma335.U4: "System.UInt32", ecma335.I8: "System.Int64", ecma335.U8: "System.UInt64",
	ecma335.R4: "System.Single", ecma335.R8: "System.Double", ecma335.String: "System.String",
	ecma335.TypedByRef: "System.TypedReference", ecma335.I: "System.IntPtr", ecma335.U: "System.UIntPtr",
	ecma335.Object: "System.Object",
}

// escaper marks characters with a meaning that are a part of a type's name.
var escaper = strings.NewReplacer(`\`, `\\`, ",", `\,`, "[", `\[`, "]", `\]`, "&", `\&`, "*", `\*`, "+", `\+`)

// typeName appends the full name of a type, behind those that it is nested in.
func (p *printer) typeName(m *ecma335.Metadata, t ecma335.Token) {
	p.nested(m, t, "+", escaper.Replace)
}

func (p *printer) nested(m *ecma335.Metadata, t ecma335.Token, between string, escape func(string) string) {
	var all []string
	for range deepestType {
		namespace, name, outer := typeRow(m, t)
		text := escape(name)
		if namespace != "" {
			text = escape(namespace) + "." + text
		}
		all = append(all, text)
		if t = outer; t == 0 {
			break
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		p.add(all[i])
		if i > 0 {
			p.add(between)
		}
	}
}

// typeRow returns the name of a row of TypeDef or TypeRef, and the type that it is nested
// in, or zero.
func typeRow(m *ecma335.Metadata, t ecma335.Token) (namespace, name string, outer ecma335.Token) {
	switch t.Table() {
	case ecma335.TypeDef:
		row := m.Type(t.Row())
		return row.Namespace, row.Name, m.Encloser(t)
	case ecma335.TypeRef:
		if outer = m.Token(ecma335.TypeRef, t.Row(), 0); outer.Table() != ecma335.TypeRef {
			outer = 0
		}
		return m.String(m.Cell(ecma335.TypeRef, t.Row(), 2)), m.String(m.Cell(ecma335.TypeRef, t.Row(), 1)), outer
	}
	return "", "", 0
}

// shortNames has the names of types for which signatures have no token.
var shortNames = map[ecma335.ElementType]string{
	ecma335.Void: "void", ecma335.Boolean: "bool", ecma335.Char: "wchar",
	ecma335.I1: "int8", ecma335.U1: "unsigned int8", ecma335.I2: "int16", ecma335.U2: "unsigned int16",
	ecma335.I4: "int32", ecma335.U4: "unsigned int32", ecma335.I8: "int64", ecma335.U8: "unsigned int64",
	ecma335.R4: "float32", ecma335.R8: "float64", ecma335.String: "class System.String",
	ecma335.TypedByRef: "refany", ecma335.I: "int", ecma335.U: "unsigned int", ecma335.Object: "class System.Object",
}

// mapNames has the names in maps for perf, where that differs.
var mapNames = map[ecma335.ElementType]string{
	ecma335.Char: "char", ecma335.U1: "uint8", ecma335.U2: "uint16", ecma335.U4: "uint32", ecma335.U8: "uint64",
	ecma335.String: "string", ecma335.Object: "object", ecma335.TypedByRef: "typedref",
	ecma335.I: "native int", ecma335.U: "native uint",
}

// arguments appends the types of the arguments of a method.
func (p *printer) arguments(m *ecma335.Metadata, s *ecma335.MethodSig) {
	p.add("(")
	p.types(m, s.Params)
	p.add(")")
}

// signature appends the signature of a method.
func (p *printer) signature(m *ecma335.Metadata, s *ecma335.MethodSig) {
	if s.HasThis() {
		p.add("instance ")
	}
	if s.Flags&ecma335.SigGeneric != 0 {
		p.add("generic ")
	}
	p.typ(m, s.Return)
	p.add("  ")
	p.arguments(m, s)
}

func (p *printer) types(m *ecma335.Metadata, all []ecma335.Type) {
	for i, t := range all {
		if i > 0 {
			p.add(",")
		}
		p.typ(m, t)
	}
}

// typ appends a type as signatures have it.
func (p *printer) typ(m *ecma335.Metadata, t ecma335.Type) {
	if p.b.Len() >= longestText {
		return
	}
	switch t.Kind {
	case ecma335.Class:
		p.class(m, "class ", t.Token)
	case ecma335.ValueType:
		p.class(m, p.value(), t.Token)
	case ecma335.GenericInst:
		kind := "class "
		if t.Value {
			kind = p.value()
		}
		p.class(m, kind, t.Token)
		p.add("<")
		p.types(m, t.Args)
		p.add(">")
	case ecma335.SZArray:
		p.typ(m, *t.Elem)
		p.add("[]")
	case ecma335.Array:
		p.typ(m, *t.Elem)
		p.add(dimensions(t.Rank, "[]"))
	case ecma335.Ptr:
		p.typ(m, *t.Elem)
		p.add("*")
	case ecma335.ByRef:
		p.typ(m, *t.Elem)
		p.add("&")
	case ecma335.Var:
		p.add("!" + decimal(t.Index))
	case ecma335.MVar:
		p.add("!!" + decimal(t.Index))
	case ecma335.CModReqd, ecma335.CModOpt:
		p.modifier(m, t)
	case ecma335.FnPtr:
		p.add("fnptr ")
		p.typ(m, t.Method.Return)
		p.add("(")
		p.types(m, t.Method.Params)
		p.add(")")
	default:
		name := shortNames[t.Kind]
		if other := mapNames[t.Kind]; p.maps && other != "" {
			name = other
		}
		p.add(name)
	}
}

// value returns the prefix of the name of a value type.
func (p *printer) value() string {
	if p.maps {
		return "valuetype "
	}
	return "value class "
}

// modifier appends a type that another one says something about.
func (p *printer) modifier(m *ecma335.Metadata, t ecma335.Type) {
	if p.maps {
		p.typ(m, *t.Elem)
		p.class(m, map[ecma335.ElementType]string{ecma335.CModReqd: " modreq(", ecma335.CModOpt: " modopt("}[t.Kind], t.Token)
		p.add(")")
		return
	}
	kind := "optional_modifier "
	if t.Kind == ecma335.CModReqd {
		kind = "required_modifier "
	}
	p.class(m, kind, t.Token)
	p.add(" ")
	p.typ(m, *t.Elem)
}

// class appends the name of a type: in events without those that it is nested in.
func (p *printer) class(m *ecma335.Metadata, kind string, t ecma335.Token) {
	if t.Table() == ecma335.TypeSpec {
		if p.specs++; p.specs <= mostSpecs {
			if spec, ok := ecma335.TypeSignature(m.Blob(m.Cell(ecma335.TypeSpec, t.Row(), 0))); ok {
				p.typ(m, spec)
			}
		}
		return
	}
	p.add(kind)
	if p.maps {
		p.nested(m, t, "/", func(name string) string { return name })
		return
	}
	namespace, name, _ := typeRow(m, t)
	if namespace != "" {
		p.add(namespace + ".")
	}
	p.add(name)
}
