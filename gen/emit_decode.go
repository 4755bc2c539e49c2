package gen

import "github.com/dave/jennifer/jen"

// How to read the files emit_*.go. Jennifer makes Go of calls, one for each part of a
// statement: Id is a name, Lit a literal, Op an operator, Call and Block are brackets. Names
// of other packages go through Qual, for which jen.go has short names: rt("Short") is
// etw.Short. Of clr.GCStartV1, whose fields are all fixed, the lines
//
//	g.If(jen.Len(id("p")).Op("<").Lit(l.prefixSize)).Block(
//		jen.Return(jen.Lit(0), rt("Short").Call(desc.Clone(), id("p"), id("ptr"))),
//	)
//	for _, f := range l.fields[:l.prefix] {
//		g.Add(c.set(f, f.kind.(fixedKind).load(f.offset)))
//	}
//
// in decodeBody make
//
//	if len(p) < 18 {
//		return 0, etw.Short(&gcStartV1, p, ptr)
//	}
//	e.Count = binary.LittleEndian.Uint32(p[0:])
//	e.Depth = binary.LittleEndian.Uint32(p[4:])
//	e.Reason = GCReason(binary.LittleEndian.Uint32(p[8:]))
//	e.Type = GCType(binary.LittleEndian.Uint32(p[12:]))
//	e.ClrInstanceID = binary.LittleEndian.Uint16(p[16:])
//
// A Statement changes when something is added to it, so that one which is used
// twice is cloned first.

// payloadParams are the parameters of DecodePayload.
func payloadParams() []jen.Code {
	return []jen.Code{id("p").Index().Byte(), id("ptr").Add(rt("PtrSize"))}
}

// emitDecode writes DecodePayload.
func emitDecode(f *jen.File, ev *event) {
	text := "DecodePayload sets e from the payload p and returns how many bytes it read."
	if aliases(ev.fields()) {
		text = "DecodePayload sets e, whose views alias the payload p, and returns how many bytes it read."
	}
	doc(f.Group, text)
	results := jen.Params(jen.Int(), jen.Error())
	l := ev.layout
	switch {
	case l.goName != "":
		newMethod(f, star("e", ev.goName), "DecodePayload").
			Params(payloadParams()...).Add(results).
			Add(brief(jen.Return(l.from(id("e")).Dot("decode").Call(id("p"), id("ptr"), addr(ev.desc)))))
	default:
		newMethod(f, star("e", ev.goName), "DecodePayload").
			Params(payloadParams()...).Add(results).
			BlockFunc(func(g *jen.Group) { decodeBody(g, l, addr(ev.desc)) })
	}
	f.Line()
}

// decodeBody writes the statements that set e from p: the prefix after one
// comparison, then the rest by cursor.
func decodeBody(g *jen.Group, l *layout, desc *jen.Statement) {
	c := l.code()
	if l.prefix > 0 {
		g.If(jen.Len(id("p")).Op("<").Lit(l.prefixSize)).Block(
			jen.Return(jen.Lit(0), rt("Short").Call(desc.Clone(), id("p"), id("ptr"))),
		)
	}
	if isOptional(l.fields) {
		name := l.goName
		if name == "" {
			name = l.events[0].goName
		}
		g.Op("*").Id("e").Op("=").Id(name).Values()
	}
	for _, f := range l.fields[:l.prefix] {
		g.Add(c.set(f, f.kind.(fixedKind).load(f.offset)))
	}
	if l.isFixed() {
		g.Return(jen.Lit(l.prefixSize), jen.Nil())
		return
	}
	g.Id("c").Op(":=").Add(rt("NewCursor")).Call(id("p"), jen.Lit(l.prefixSize), id("ptr"))
	for _, f := range l.fields[l.prefix:] {
		g.Add(f.kind.read(c, f))
	}
	g.Return(dot("c", "Done").Call(desc.Clone()))
}
