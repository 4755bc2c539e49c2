package r2r

import (
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

func lower(s string) string { return strings.ToLower(s) }

// A signature reads which method an entry of the table of instances is of. It prints the
// type that owns it while reading it, if there is something to print to.
type signature struct {
	*ecma335.Cursor
	image *Image
	out   *printer

	depth   int
	bad     bool
	unknown bool              // a type is in an assembly that is not at hand
	owned   bool              // the owner is in the signature
	owner   *ecma335.Metadata // that has the row of the method
}

// The flags of a method.
const (
	withInstantiation = 0x04
	withSlot          = 0x08
	withMember        = 0x10
	withConstraint    = 0x20
	withOwner         = 0x40
	withModule        = 0x80
)

// The kinds of types that only such signatures have.
const (
	nativeValueType ecma335.ElementType = 0x3d
	canonical       ecma335.ElementType = 0x3e
	ofModule        ecma335.ElementType = 0x3f
)

// Bounds of plausible values.
const (
	deepestType   = 50
	mostArguments = 1 << 10
	highestRank   = 32
)

// Failed reports whether this is no signature.
func (s *signature) Failed() bool { return s.bad || s.Cursor.Failed() }

// method reads the signature, and returns the row of the method.
func (s *signature) method() ecma335.Token {
	flags := s.Uint()
	scope := s.own()
	if flags&withModule != 0 {
		scope = s.module(s.Uint())
	}
	s.owner = scope
	if flags&withOwner != 0 {
		s.owned = true
		s.owner = s.typ(scope)
	}
	table := ecma335.MethodDef
	if flags&withMember != 0 {
		table = ecma335.MemberRef
	}
	token := ecma335.MakeToken(table, s.Uint())
	out := s.out
	s.out = nil // the arguments of methods are no part of names
	if flags&withInstantiation != 0 {
		s.types(scope, s.Uint(), "")
	}
	if flags&withConstraint != 0 {
		s.typ(scope)
	}
	if flags&withSlot != 0 {
		s.Uint()
	}
	s.out = out
	return token
}

// own returns the metadata of the image. There is none while nothing is printed.
func (s *signature) own() *ecma335.Metadata {
	if s.image == nil {
		return nil
	}
	return s.image.own
}

func (s *signature) module(i uint32) *ecma335.Metadata {
	if s.image == nil {
		return nil
	}
	return s.image.module(i)
}

// corelib returns the metadata that has the types with names of their own.
func (s *signature) corelib() *ecma335.Metadata {
	if s.image == nil {
		return nil
	}
	return s.image.named("System.Private.CoreLib")
}

// typ reads a type whose tokens are of scope, and returns the metadata that has it.
func (s *signature) typ(scope *ecma335.Metadata) *ecma335.Metadata {
	if s.depth++; s.depth > deepestType {
		s.bad = true
	}
	defer func() { s.depth-- }()
	k := ecma335.ElementType(s.Byte())
	if s.Failed() {
		return nil
	}
	if name := typeNames[k]; name != "" {
		s.print(name)
		return s.corelib()
	}
	switch k {
	case canonical:
		s.print("System.__Canon")
	case ecma335.Class, ecma335.ValueType:
		return s.token(scope)
	case ecma335.GenericInst:
		s.Byte() // of a class or a value
		owner := s.token(scope)
		s.print("[")
		s.types(scope, s.Uint(), ",")
		s.print("]")
		return owner
	case ofModule:
		return s.typ(s.module(s.Uint()))
	case nativeValueType:
		return s.typ(scope)
	case ecma335.SZArray, ecma335.Ptr, ecma335.ByRef:
		s.typ(scope)
		s.print(map[ecma335.ElementType]string{ecma335.SZArray: "[]", ecma335.Ptr: "*", ecma335.ByRef: "&"}[k])
	case ecma335.Array:
		s.array(scope)
	case ecma335.Var:
		s.print("!" + decimal(s.Uint()))
	case ecma335.MVar:
		s.print("!!" + decimal(s.Uint()))
	case ecma335.FnPtr:
		s.function(scope)
	default:
		s.bad = true
	}
	return s.corelib()
}

// token reads a token, and prints the type that it means.
func (s *signature) token(scope *ecma335.Metadata) *ecma335.Metadata {
	t := s.TypeDefOrRef()
	if s.out == nil {
		return nil
	}
	if scope == nil || t == 0 {
		s.unknown = true
		return nil
	}
	s.out.typeName(scope, t)
	if t.Table() != ecma335.TypeRef {
		return scope
	}
	// The row of the method is of the assembly that defines the type.
	for range deepestType {
		next := scope.Token(ecma335.TypeRef, t.Row(), 0)
		if t = next; t.Table() != ecma335.TypeRef {
			break
		}
	}
	if t.Table() == ecma335.AssemblyRef {
		return s.image.named(assemblyName(scope, t.Row()))
	}
	return scope
}

// types reads n types.
func (s *signature) types(scope *ecma335.Metadata, n uint32, between string) {
	if n > mostArguments {
		s.bad = true
	}
	for i := uint32(0); i < n && !s.Failed(); i++ {
		if i > 0 {
			s.print(between)
		}
		s.typ(scope)
	}
}

// array reads an array that may have several dimensions.
func (s *signature) array(scope *ecma335.Metadata) {
	s.typ(scope)
	rank := s.Uint()
	for range 2 { // sizes, and lower bounds
		for n := s.Uint(); n > 0 && !s.Failed(); n-- {
			s.Uint()
		}
	}
	s.print(dimensions(rank, "[*]"))
}

// function reads a pointer to a function.
func (s *signature) function(scope *ecma335.Metadata) {
	if s.Byte()&ecma335.SigGeneric != 0 {
		s.Uint()
	}
	n := s.Uint()
	s.typ(scope)
	s.print("(")
	s.types(scope, n, ", ")
	s.print(")")
}

// print prints text, if anything is to be printed.
func (s *signature) print(text string) {
	if s.out != nil {
		s.out.add(text)
	}
}
