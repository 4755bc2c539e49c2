package ecma335

import "strings"

// The columns of the rows below, as far as others need them.
const (
	TypeDefFields   = 4
	TypeDefMethods  = 5
	MethodDefParams = 5
)

// A TypeRow is a row of TypeDef.
type TypeRow struct {
	Token
	Flags           uint32
	Namespace, Name string
	Extends         Token
}

// The flags of a type.
const (
	TypeVisibility   = 0x07
	TypeNestedPublic = 0x02
	TypeInterface    = 0x20
	TypeAbstract     = 0x80
	TypeSealed       = 0x100
)

// Type returns a row of TypeDef.
func (m *Metadata) Type(row uint32) TypeRow {
	return TypeRow{
		Token:     MakeToken(TypeDef, row),
		Flags:     m.Cell(TypeDef, row, 0),
		Name:      m.String(m.Cell(TypeDef, row, 1)),
		Namespace: m.String(m.Cell(TypeDef, row, 2)),
		Extends:   m.Token(TypeDef, row, 3),
	}
}

// FullName returns the name with the namespace.
func (t TypeRow) FullName() string { return join(t.Namespace, t.Name) }

// A MethodRow is a row of MethodDef.
type MethodRow struct {
	Token
	RVA       uint32
	ImplFlags uint16
	Flags     uint16
	Name      string
	Signature []byte
}

// The flags of a method.
const (
	MethodStatic        = 0x10
	MethodVirtual       = 0x40
	MethodRTSpecialName = 0x1000
)

// Method returns a row of MethodDef.
func (m *Metadata) Method(row uint32) MethodRow {
	return MethodRow{
		Token:     MakeToken(MethodDef, row),
		RVA:       m.Cell(MethodDef, row, 0),
		ImplFlags: uint16(m.Cell(MethodDef, row, 1)),
		Flags:     uint16(m.Cell(MethodDef, row, 2)),
		Name:      m.String(m.Cell(MethodDef, row, 3)),
		Signature: m.Blob(m.Cell(MethodDef, row, 4)),
	}
}

// A FieldRow is a row of Field.
type FieldRow struct {
	Token
	Flags     uint16
	Name      string
	Signature []byte
}

// The flags of a field.
const (
	FieldAccess  = 0x07
	FieldPublic  = 0x06
	FieldStatic  = 0x10
	FieldLiteral = 0x40
)

// Field returns a row of Field.
func (m *Metadata) Field(row uint32) FieldRow {
	return FieldRow{
		Token:     MakeToken(Field, row),
		Flags:     uint16(m.Cell(Field, row, 0)),
		Name:      m.String(m.Cell(Field, row, 1)),
		Signature: m.Blob(m.Cell(Field, row, 2)),
	}
}

// A ConstantRow is the value that a field or parameter has by declaration.
type ConstantRow struct {
	Type  ElementType
	Value []byte
}

// Constant returns the constant of a field or parameter, and whether it has one.
func (m *Metadata) Constant(of Token) (ConstantRow, bool) {
	for row := range m.Refer(Constant, 1, of) {
		return ConstantRow{ElementType(m.Cell(Constant, row, 0)), m.Blob(m.Cell(Constant, row, 2))}, true
	}
	return ConstantRow{}, false
}

// Int returns the constant as an integer, its sign extended, and whether it is one that
// is all there.
func (c ConstantRow) Int() (int64, bool) {
	size, ok := integerSizes[c.Type]
	if c.Type == Boolean {
		size, ok = 1, true
	}
	if !ok || len(c.Value) < size {
		return 0, false
	}
	var v uint64
	for i := range size {
		v |= uint64(c.Value[i]) << (8 * i)
	}
	if c.Type != Boolean && c.Type != Char && c.Type&1 == 0 {
		return signExtend(v, size), true
	}
	return int64(v), true
}

// A MemberRow is a row of MemberRef: a method or field of another type.
type MemberRow struct {
	Token
	Parent    Token
	Name      string
	Signature []byte
}

// Member returns a row of MemberRef.
func (m *Metadata) Member(row uint32) MemberRow {
	return MemberRow{
		Token:     MakeToken(MemberRef, row),
		Parent:    m.Token(MemberRef, row, 0),
		Name:      m.String(m.Cell(MemberRef, row, 1)),
		Signature: m.Blob(m.Cell(MemberRef, row, 2)),
	}
}

// ParamNames returns the names of a method's first n parameters.
func (m *Metadata) ParamNames(method uint32, n int) []string {
	names := make([]string, n)
	left := n + 1 // one more, since the result may have a row
	for row := range m.List(MethodDef, method, MethodDefParams) {
		if left--; left < 0 {
			break
		}
		if i := int(m.Cell(Param, row, 1)); i > 0 && i <= n {
			names[i-1] = m.String(m.Cell(Param, row, 2))
		}
	}
	return names
}

// Encloser returns the type that a type is nested in. It is zero if it is not.
func (m *Metadata) Encloser(t Token) Token {
	for row := range m.Refer(NestedClass, 0, t) {
		return m.Token(NestedClass, row, 1)
	}
	return 0
}

// IsGeneric reports whether a type or method has parameters that are types.
func (m *Metadata) IsGeneric(t Token) bool {
	for range m.Refer(GenericParam, 2, t) {
		return true
	}
	return false
}

// deepestNesting is how many types enclose one another. The file can say anything,
// even that one encloses itself.
const deepestNesting = 50

// TypeName returns the full name of a row of TypeDef or TypeRef, with + between a type
// and those nested in it. It is "" for everything else.
func (m *Metadata) TypeName(t Token) string {
	var nested []string
	for range deepestNesting {
		var name, namespace string
		var outer Token
		switch t.Table() {
		case TypeDef:
			row := m.Type(t.Row())
			name, namespace, outer = row.Name, row.Namespace, m.Encloser(t)
		case TypeRef:
			name, namespace = m.String(m.Cell(TypeRef, t.Row(), 1)), m.String(m.Cell(TypeRef, t.Row(), 2))
			if outer = m.Token(TypeRef, t.Row(), 0); outer.Table() != TypeRef {
				outer = 0
			}
		}
		full := join(namespace, name)
		for i := len(nested) - 1; outer == 0 && i >= 0; i-- {
			full += "+" + nested[i]
		}
		if outer == 0 {
			return full
		}
		nested = append(nested, full)
		t = outer
	}
	return ""
}

func join(namespace, name string) string {
	return strings.TrimPrefix(namespace+"."+name, ".")
}

// MethodOf returns the type that has a method or constructor, its name and its
// signature, for a row of MethodDef, MemberRef or MethodSpec.
func (m *Metadata) MethodOf(t Token) (parent Token, name string, signature []byte) {
	if t.Table() == MethodSpec {
		t = m.Token(MethodSpec, t.Row(), 0)
	}
	switch t.Table() {
	case MethodDef:
		row := m.Method(t.Row())
		return MakeToken(TypeDef, m.Owner(TypeDef, TypeDefMethods, t.Row())), row.Name, row.Signature
	case MemberRef:
		row := m.Member(t.Row())
		if row.Parent.Table() == MethodDef {
			parent, _, _ := m.MethodOf(row.Parent)
			return parent, row.Name, row.Signature
		}
		return row.Parent, row.Name, row.Signature
	}
	return 0, "", nil
}
