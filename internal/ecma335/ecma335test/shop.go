package ecma335test

import "github.com/etwgen/etwgen/internal/ecma335"

// Shop returns an assembly with one EventSource class, which has something of
// everything. In C# it is:
//
//	namespace Shop;
//
//	public enum Size : byte { Small, Large }
//
//	[EventSource(Name = "Ignored")]
//	public sealed class Orders : EventSource
//	{
//	    public static class Keywords { public const EventKeywords Money = (EventKeywords)4; }
//
//	    public Orders() : base("Shop-Orders", EventSourceSettings.EtwManifestEventFormat) { }
//
//	    [Event(1, Keywords = Keywords.Money, Message = "{0} for {1}")]
//	    public void Placed(string item, int price) => WriteEvent(1, item, price);
//
//	    [Event(2)]
//	    public void Weighed(byte grams, long at) => WriteEvent(2, grams, at); // (int, long, long)
//
//	    [Event(3)]
//	    public void Sorted(Size size) => WriteEvent(3, (int)size);
//
//	    [Event(4)]
//	    public void ShipStart() => WriteEvent(4);
//
//	    [Event(5)]
//	    public void ShipStop() => WriteEvent(5);
//
//	    public void set_Level(int value) { }
//	}
func Shop() []byte {
	b := NewBuilder()
	s := &shop{Builder: b}
	s.references()
	b.Row(ecma335.Module, uint16(0), "Shop.dll", uint16(1), uint16(0), uint16(0))
	b.Row(ecma335.Assembly, uint32(0x8004), uint16(1), uint16(0), uint16(0), uint16(0), uint32(0), []byte(nil), "Shop", "")
	s.types()
	s.methods()
	s.attributes()
	return b.Bytes()
}

// The coded references below: a row and a tag of some bits.
func typeRef(row uint16) uint16   { return row<<2 | 1 }
func attribute(row uint16) uint16 { return row<<3 | 3 }

type shop struct {
	*Builder
	source, enumType, object, keywordsType, settings uint16

	base, write, writeText, writeInt, writeLongs, event, eventSource uint16
}

// references adds the references of the code, all of it in one other assembly.
func (s *shop) references() {
	runtime := s.Row(ecma335.AssemblyRef, uint16(9), uint16(0), uint16(0), uint16(0), uint32(0), []byte(nil), "System.Runtime", "", []byte(nil))
	const tracing = "System.Diagnostics.Tracing"
	ref := func(name, namespace string) uint16 { return s.Row(ecma335.TypeRef, runtime<<2|2, name, namespace) }
	s.object, s.enumType = ref("Object", "System"), ref("Enum", "System")
	s.source, s.keywordsType, s.settings = ref("EventSource", tracing), ref("EventKeywords", tracing), ref("EventSourceSettings", tracing)
	event, eventSource := ref("EventAttribute", tracing), ref("EventSourceAttribute", tracing)
	method := func(of uint16, name string, sig ...byte) uint16 { return s.Row(ecma335.MemberRef, of<<3|1, name, sig) }
	const this, void, i4, i8, text = 0x20, 0x01, 0x08, 0x0a, 0x0e
	s.base = method(s.source, ".ctor", this, 2, void, text, 0x11, byte(typeRef(s.settings)))
	s.write = method(s.source, "WriteEvent", this, 1, void, i4)
	s.writeText = method(s.source, "WriteEvent", this, 3, void, i4, text, i4)
	s.writeInt = method(s.source, "WriteEvent", this, 2, void, i4, i4)
	s.writeLongs = method(s.source, "WriteEvent", this, 3, void, i4, i8, i8)
	s.event = method(event, ".ctor", this, 1, void, i4)
	s.eventSource = method(eventSource, ".ctor", this, 0, void)
}

// types adds the types, and the fields of those that have some.
func (s *shop) types() {
	const public, sealed, abstract, nestedPublic = 0x1, 0x100, 0x80, 0x2
	s.Row(ecma335.TypeDef, uint32(0), "<Module>", "", uint16(0), uint16(1), uint16(1))
	orders := s.Row(ecma335.TypeDef, uint32(public|sealed), "Orders", "Shop", typeRef(s.source), uint16(1), uint16(1))
	keywords := s.Row(ecma335.TypeDef, uint32(nestedPublic|sealed|abstract), "Keywords", "", typeRef(s.object), uint16(1), uint16(8))
	s.Row(ecma335.TypeDef, uint32(public|sealed), "Size", "Shop", typeRef(s.enumType), uint16(2), uint16(8))
	s.Row(ecma335.NestedClass, keywords, orders)

	const constant, valueField, u1, i8 = 0x8056, 0x606, 0x05, 0x0a
	s.Row(ecma335.Field, uint16(constant), "Money", []byte{0x06, 0x11, byte(typeRef(s.keywordsType))})
	s.Row(ecma335.Field, uint16(valueField), "value__", []byte{0x06, u1})
	size := []byte{0x06, 0x11, 4 << 2}
	s.Row(ecma335.Field, uint16(constant), "Small", size)
	s.Row(ecma335.Field, uint16(constant), "Large", size)
	s.Row(ecma335.Constant, uint16(i8), uint16(1<<2), []byte{4, 0, 0, 0, 0, 0, 0, 0})
	s.Row(ecma335.Constant, uint16(u1), uint16(3<<2), []byte{0})
	s.Row(ecma335.Constant, uint16(u1), uint16(4<<2), []byte{1})
}

// methods adds the constructor and the events.
func (s *shop) methods() {
	const ldarg0, ldarg1, ldarg2, ldc1, conv, call, ldstr, ret = 0x02, 0x03, 0x04, 0x17, 0x6a, 0x28, 0x72, 0x2a
	const this, void, u1, i4, i8, text = 0x20, 0x01, 0x05, 0x08, 0x0a, 0x0e
	const constructor, public = 0x1886, 0x86
	method := func(flags uint16, name string, sig []byte, params []string, il ...any) {
		first := uint16(s.counts[ecma335.Param] + 1)
		s.Row(ecma335.MethodDef, s.Code(IL(il...)...), uint16(0), flags, name, sig, first)
		for i, p := range params {
			s.Row(ecma335.Param, uint16(0), uint16(i+1), p)
		}
	}
	member := func(row uint16) ecma335.Token { return ecma335.MakeToken(ecma335.MemberRef, uint32(row)) }
	method(constructor, ".ctor", []byte{this, 0, void}, nil,
		ldarg0, ldstr, s.UserString("Shop-Orders"), ldc1+3, call, member(s.base), ret)
	method(public, "Placed", []byte{this, 2, void, text, i4}, []string{"item", "price"},
		ldarg0, ldc1, ldarg1, ldarg2, call, member(s.writeText), ret)
	method(public, "Weighed", []byte{this, 2, void, u1, i8}, []string{"grams", "at"},
		ldarg0, ldc1+1, ldarg1, conv, ldarg2, call, member(s.writeLongs), ret)
	method(public, "Sorted", []byte{this, 1, void, 0x11, 4 << 2}, []string{"size"},
		ldarg0, ldc1+2, ldarg1, call, member(s.writeInt), ret)
	method(public, "ShipStart", []byte{this, 0, void}, nil, ldarg0, ldc1+3, call, member(s.write), ret)
	method(public, "ShipStop", []byte{this, 0, void}, nil, ldarg0, ldc1+4, call, member(s.write), ret)
	method(public, "set_Level", []byte{this, 1, void, i4}, []string{"value"}, ret)
}

// attributes adds [Event] to the events, and [EventSource] to the class.
func (s *shop) attributes() {
	property := func(value []byte, kind byte, name string, v []byte) []byte {
		value = append(value, 0x54, kind)
		if kind == 0x55 {
			const enum = "System.Diagnostics.Tracing.EventKeywords, System.Runtime"
			value = append(appendSize(value, len(enum)), enum...)
		}
		value = append(appendSize(value, len(name)), name...)
		return append(value, v...)
	}
	text := func(s string) []byte { return append(appendSize(nil, len(s)), s...) }
	for id := byte(1); id <= 5; id++ {
		value := []byte{1, 0, id, 0, 0, 0, 0, 0}
		if id == 1 {
			value[6] = 2
			value = property(value, 0x55, "Keywords", []byte{4, 0, 0, 0, 0, 0, 0, 0})
			value = property(value, 0x0e, "Message", text("{0} for {1}"))
		}
		s.Row(ecma335.CustomAttribute, uint16(id+1)<<5, attribute(s.event), value)
	}
	s.Row(ecma335.CustomAttribute, uint16(2)<<5|3, attribute(s.eventSource), property([]byte{1, 0, 1, 0}, 0x0e, "Name", text("Ignored")))
}
