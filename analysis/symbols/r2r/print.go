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
	specs int // that were looked up
}

// String returns the text.
func (p *printer) String() string { return p.b.String() }

// add appends text as far as there is room.
func (p *printer) add(text string) {
	p.b.WriteString(text[:min(len(text), longestText-p.b.Len())])
}

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// dimensions returns what follows the elements of an array that counts its dimensions.
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

// escaper marks what has a meaning in the names of types and is a part of one.
var escaper = strings.NewReplacer(`\`, `\\`, ",", `\,`, "[", `\[`, "]", `\]`, "&", `\&`, "*", `\*`, "+", `\+`)

// typeName appends the full name of a type, behind those that it is nested in.
func (p *printer) typeName(m *ecma335.Metadata, t ecma335.Token) {
	var nested []string
	for range deepestType {
		namespace, name, outer := typeRow(m, t)
		text := escaper.Replace(name)
		if namespace != "" {
			text = escaper.Replace(namespace) + "." + text
		}
		nested = append(nested, text)
		if t = outer; t == 0 {
			break
		}
	}
	for i := len(nested) - 1; i >= 0; i-- {
		p.add(nested[i])
		if i > 0 {
			p.add("+")
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

// shortNames has what signatures call types that they have no token for.
var shortNames = map[ecma335.ElementType]string{
	ecma335.Void: "void", ecma335.Boolean: "bool", ecma335.Char: "wchar",
	ecma335.I1: "int8", ecma335.U1: "unsigned int8", ecma335.I2: "int16", ecma335.U2: "unsigned int16",
	ecma335.I4: "int32", ecma335.U4: "unsigned int32", ecma335.I8: "int64", ecma335.U8: "unsigned int64",
	ecma335.R4: "float32", ecma335.R8: "float64", ecma335.String: "class System.String",
	ecma335.TypedByRef: "refany", ecma335.I: "int", ecma335.U: "unsigned int", ecma335.Object: "class System.Object",
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
	p.add("  (")
	p.types(m, s.Params)
	p.add(")")
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
		p.class(m, "value class ", t.Token)
	case ecma335.GenericInst:
		kind := "class "
		if t.Value {
			kind = "value class "
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
		p.add(shortNames[t.Kind])
	}
}

// modifier appends a type that another one says something about.
func (p *printer) modifier(m *ecma335.Metadata, t ecma335.Type) {
	kind := "optional_modifier "
	if t.Kind == ecma335.CModReqd {
		kind = "required_modifier "
	}
	p.class(m, kind, t.Token)
	p.add(" ")
	p.typ(m, *t.Elem)
}

// class appends the name of a type, without those that it is nested in.
func (p *printer) class(m *ecma335.Metadata, kind string, t ecma335.Token) {
	if t.Table() == ecma335.TypeSpec {
		if p.specs++; p.specs <= mostSpecs {
			if spec, ok := ecma335.TypeSignature(m.Blob(m.Cell(ecma335.TypeSpec, t.Row(), 0))); ok {
				p.typ(m, spec)
			}
		}
		return
	}
	namespace, name, _ := typeRow(m, t)
	p.add(kind)
	if namespace != "" {
		p.add(namespace + ".")
	}
	p.add(name)
}
