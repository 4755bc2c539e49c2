package ecma335

// An ElementType is the first byte of a type in a signature.
type ElementType uint8

// The kinds of types.
const (
	Void           ElementType = 0x01
	Boolean        ElementType = 0x02
	Char           ElementType = 0x03
	I1             ElementType = 0x04
	U1             ElementType = 0x05
	I2             ElementType = 0x06
	U2             ElementType = 0x07
	I4             ElementType = 0x08
	U4             ElementType = 0x09
	I8             ElementType = 0x0a
	U8             ElementType = 0x0b
	R4             ElementType = 0x0c
	R8             ElementType = 0x0d
	String         ElementType = 0x0e
	Ptr            ElementType = 0x0f
	ByRef          ElementType = 0x10
	ValueType      ElementType = 0x11
	Class          ElementType = 0x12
	Var            ElementType = 0x13 // a parameter of a generic type
	Array          ElementType = 0x14
	GenericInst    ElementType = 0x15
	TypedByRef     ElementType = 0x16
	I              ElementType = 0x18
	U              ElementType = 0x19
	FnPtr          ElementType = 0x1b
	Object         ElementType = 0x1c
	SZArray        ElementType = 0x1d
	MVar           ElementType = 0x1e // a parameter of a generic method
	CModReqd       ElementType = 0x1f
	CModOpt        ElementType = 0x20
	Sentinel       ElementType = 0x41
	Pinned         ElementType = 0x45
	systemType     ElementType = 0x50 // of attributes, as the next three
	boxed          ElementType = 0x51
	attributeField ElementType = 0x53
	enumeration    ElementType = 0x55
)

// A Type is a type as a signature describes it.
type Type struct {
	Kind   ElementType
	Token  Token      // of Class, ValueType, GenericInst and modifiers
	Elem   *Type      // of Ptr, ByRef, SZArray, Array, Pinned and modifiers
	Value  bool       // a GenericInst is a value type
	Args   []Type     // of GenericInst
	Index  uint32     // of Var and MVar
	Rank   uint32     // of Array
	Method *MethodSig // of FnPtr
}

// Unmodified returns the type without the modifiers around it.
func (t Type) Unmodified() Type {
	for t.Kind == CModReqd || t.Kind == CModOpt || t.Kind == Pinned {
		t = *t.Elem
	}
	return t
}

// A MethodSig is the signature of a method.
type MethodSig struct {
	Flags   byte // the convention, and the bits below
	Generic uint32
	Return  Type
	Params  []Type
}

// The bits of a signature's first byte.
const (
	SigGeneric = 0x10
	SigHasThis = 0x20
	sigKind    = 0x0f
	sigField   = 0x06
	sigLocals  = 0x07
)

// HasThis reports whether the method is one of an instance.
func (s *MethodSig) HasThis() bool { return s.Flags&SigHasThis != 0 }

// Signatures nest. Those that people write do by a few levels.
const deepest = 100

// MethodSignature reads the signature of a method, and whether it is one.
func MethodSignature(b []byte) (*MethodSig, bool) {
	c := NewCursor(b)
	s := c.method(0)
	return s, !c.failed
}

// FieldSignature reads the type of a field, and whether it is one.
func FieldSignature(b []byte) (Type, bool) {
	c := NewCursor(b)
	if c.Byte()&sigKind != sigField {
		return Type{}, false
	}
	t := c.Type()
	return t, !c.failed
}

// TypeSignature reads a type, as TypeSpec has one, and whether it is one.
func TypeSignature(b []byte) (Type, bool) {
	c := NewCursor(b)
	t := c.Type()
	return t, !c.failed
}

// method reads the signature of a method at some depth.
func (c *Cursor) method(depth int) *MethodSig {
	s := &MethodSig{Flags: c.Byte()}
	if kind := s.Flags & sigKind; kind == sigField || kind == sigLocals {
		c.fail()
	}
	if s.Flags&SigGeneric != 0 {
		s.Generic = c.Uint()
	}
	n := c.Uint()
	s.Return = c.typ(depth)
	s.Params = c.types(n, depth)
	return s
}

// types reads n types.
func (c *Cursor) types(n uint32, depth int) []Type {
	var all []Type
	for range n {
		if ElementType(c.peek()) == Sentinel {
			c.Byte()
		}
		t := c.typ(depth)
		if c.failed {
			return nil
		}
		all = append(all, t)
	}
	return all
}

// Type reads a type.
func (c *Cursor) Type() Type { return c.typ(0) }

// typ reads a type at some depth.
func (c *Cursor) typ(depth int) Type {
	t := Type{Kind: ElementType(c.Byte())}
	if depth++; depth > deepest {
		c.fail()
		return t
	}
	switch k := t.Kind; k {
	case Ptr, ByRef, SZArray, Pinned:
		t.Elem = c.element(depth)
	case CModReqd, CModOpt:
		t.Token = c.TypeDefOrRef()
		t.Elem = c.element(depth)
	case ValueType, Class:
		t.Token = c.TypeDefOrRef()
	case Var, MVar:
		t.Index = c.Uint()
	case GenericInst:
		t.Value = ElementType(c.Byte()) == ValueType
		t.Token = c.TypeDefOrRef()
		t.Args = c.types(c.Uint(), depth)
	case Array:
		t.Elem = c.element(depth)
		t.Rank = c.Uint()
		for range 2 { // sizes, lower bounds
			for n := c.Uint(); n > 0 && !c.failed; n-- {
				c.Uint()
			}
		}
	case FnPtr:
		t.Method = c.method(depth)
	default:
		if !(k >= Void && k <= String || k == TypedByRef || k == I || k == U || k == Object) {
			c.fail()
		}
	}
	return t
}

func (c *Cursor) element(depth int) *Type {
	t := c.typ(depth)
	return &t
}
