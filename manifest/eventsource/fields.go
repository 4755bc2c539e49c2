package eventsource

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/internal/ecma335"
)

// addField adds a field to an event.
func (b *builder) addField(e *Event, f Field) { e.Fields = append(e.Fields, f) }

// simpleTypes has the types of fields that signatures have numbers for.
var simpleTypes = map[ecma335.ElementType]string{
	ecma335.Boolean: "win:Boolean", ecma335.Char: "win:UInt16",
	ecma335.I1: "win:Int8", ecma335.U1: "win:UInt8",
	ecma335.I2: "win:Int16", ecma335.U2: "win:UInt16",
	ecma335.I4: "win:Int32", ecma335.U4: "win:UInt32",
	ecma335.I8: "win:Int64", ecma335.U8: "win:UInt64",
	ecma335.R4: "win:Float", ecma335.R8: "win:Double",
	ecma335.String: "win:UnicodeString", ecma335.I: "win:Pointer",
}

// namedTypes has those that are structures.
var namedTypes = map[string]string{"System.DateTime": "win:FILETIME", "System.Guid": "win:GUID"}

// notEnums are value types of .NET that no source can have as fields. Of others that
// are not at hand, all that were ever seen are enumerations.
var notEnums = map[string]bool{
	"System.Decimal": true, "System.TimeSpan": true, "System.DateTimeOffset": true, "System.Nullable`1": true,
	"System.DateOnly": true, "System.TimeOnly": true, "System.Int128": true, "System.UInt128": true,
	"System.Half": true, "System.Index": true, "System.Range": true,
}

// parameter makes fields of a parameter.
func (b *builder) parameter(e *Event, m *method, t ecma335.Type, name string) error {
	t = t.Unmodified()
	f := Field{Name: name}
	if inType := simpleTypes[t.Kind]; inType != "" {
		f.InType = inType
		b.addField(e, f)
		return nil
	}
	switch t.Kind {
	case ecma335.SZArray, ecma335.Array, ecma335.Ptr:
		if t.Elem.Unmodified().Kind != ecma335.U1 {
			break
		}
		if t.Kind == ecma335.SZArray {
			b.blobs[e.Name] = append(b.blobs[e.Name], len(e.Fields))
			b.addField(e, Field{Name: name + "Size", InType: "win:UInt32"})
		}
		f.InType, f.Length = "win:Binary", name+"Size"
		b.addField(e, f)
		return nil
	case ecma335.ValueType, ecma335.GenericInst:
		if f.InType = namedTypes[b.nameOf(t.Token)]; f.InType != "" {
			b.addField(e, f)
			return nil
		}
		if t.Kind == ecma335.GenericInst && !t.Value {
			break
		}
		if f.InType, f.Map = b.enum(t.Token); f.InType != "" {
			b.addField(e, f)
			return nil
		}
	}
	err := b.complain(true, "Unsupported type %s in event source.", b.typeName(t, m))
	b.addField(e, f)
	return err
}

// enum returns the type of fields of an enumeration, and the name of its map. Both are
// "" if it is another type.
func (b *builder) enum(token ecma335.Token) (inType, mapName string) {
	t, ok := b.resolve(token)
	if !ok {
		full := b.nameOf(token)
		if notEnums[full] || full == "" {
			return "", ""
		}
		warning := fmt.Sprintf("%s is not at hand: it is taken for an enumeration of 4 bytes, without the names of its values", full)
		if !b.maps[warning] {
			b.maps[warning] = true
			b.s.Warnings = append(b.s.Warnings, warning)
		}
		return "win:UInt32", ""
	}
	if t.nameOf(t.Extends) != "System.Enum" {
		return "", ""
	}
	underlying := ecma335.ElementType(0)
	for _, f := range t.fields() {
		if f.Flags&ecma335.FieldStatic == 0 {
			sig, _ := ecma335.FieldSignature(f.Signature)
			underlying = sig.Unmodified().Kind
			break
		}
	}
	inType = strings.Replace(simpleTypes[underlying], "win:Int", "win:UInt", 1)
	if underlying != ecma335.I8 && underlying != ecma335.U8 {
		b.addMap(t)
		mapName = t.Name
	}
	return inType, mapName
}

// addMap adds a map of an enumeration. Of two with one name, the first has it.
func (b *builder) addMap(t typ) {
	if b.maps[t.Name] {
		return
	}
	b.maps[t.Name] = true
	m := &Map{Name: t.Name}
	_, m.Flags = t.attribute(t.Token, func(full string) bool { return full == "System.FlagsAttribute" })
	for _, f := range t.fields() {
		const constant = ecma335.FieldStatic | ecma335.FieldLiteral
		if f.Flags&constant != constant || f.Flags&ecma335.FieldAccess != ecma335.FieldPublic {
			continue
		}
		c, ok := t.Constant(f.Token)
		v, isInt := c.Int()
		if !ok || !isInt || m.Flags && (v == 0 || v&(v-1) != 0 || v < 0) {
			continue
		}
		m.Entries = append(m.Entries, MapEntry{uint64(v), f.Name})
	}
	if len(m.Entries) == 0 {
		m.Entries = []MapEntry{{0, "None"}}
	}
	b.s.Maps = append(b.s.Maps, m)
}

// plainNames has the names of types that signatures have numbers for, as reflection
// has them.
var plainNames = map[ecma335.ElementType]string{
	ecma335.Void: "Void", ecma335.Boolean: "Boolean", ecma335.Char: "Char",
	ecma335.I1: "SByte", ecma335.U1: "Byte", ecma335.I2: "Int16", ecma335.U2: "UInt16",
	ecma335.I4: "Int32", ecma335.U4: "UInt32", ecma335.I8: "Int64", ecma335.U8: "UInt64",
	ecma335.R4: "Single", ecma335.R8: "Double", ecma335.String: "String",
	ecma335.I: "IntPtr", ecma335.U: "UIntPtr", ecma335.Object: "Object", ecma335.TypedByRef: "TypedReference",
}

// typeName returns the simple name of a type, as reflection has it.
func (b *builder) typeName(t ecma335.Type, m *method) string {
	switch t = t.Unmodified(); t.Kind {
	case ecma335.ByRef:
		return b.typeName(*t.Elem, m) + "&"
	case ecma335.Ptr:
		return b.typeName(*t.Elem, m) + "*"
	case ecma335.SZArray:
		return b.typeName(*t.Elem, m) + "[]"
	case ecma335.Array:
		return b.typeName(*t.Elem, m) + "[" + strings.Repeat(",", int(max(1, min(t.Rank, 32)))-1) + "]"
	case ecma335.Var:
		return b.genericName(b.class.Token, t.Index)
	case ecma335.MVar:
		return b.genericName(m.Token, t.Index)
	case ecma335.FnPtr:
		return "IntPtr"
	case ecma335.ValueType, ecma335.Class, ecma335.GenericInst:
		full := b.nameOf(t.Token)
		return full[strings.LastIndexAny(full, ".+")+1:]
	}
	return plainNames[t.Kind]
}

// genericName returns the name of a parameter of a type or method.
func (b *builder) genericName(owner ecma335.Token, i uint32) string {
	for row := range b.Refer(ecma335.GenericParam, 2, owner) {
		if b.Cell(ecma335.GenericParam, row, 0) == i {
			return b.String(b.Cell(ecma335.GenericParam, row, 3))
		}
	}
	return ""
}
