package gen

import "github.com/dave/jennifer/jen"

// emitEmbedding writes the type for all versions of an event that has one. That has
// most of the methods; the others are those that are not the same for both.
func emitEmbedding(f *jen.File, a *anyVersion) {
	ev := a.newest()
	f.Type().Id(a.goName).Struct(id("Seen").Add(rt("Seen")), id(ev.goName))
	f.Line()
	version := jen.Lit(int(ev.m.Version))
	doc(f.Group, "DecodeVersion sets e from the payload p of any version and returns how many bytes it read.")
	newMethod(f, star("e", a.goName), "DecodeVersion").Params(versionParams()...).Params(jen.Int(), jen.Error()).Block(
		dot("e", "Seen").Op("=").Add(rt("Seen")).Values(key("Version", id("version")), key("Layout", version)),
		jen.Return(dot("e", ev.goName).Dot("DecodePayload").Call(id("p"), id("ptr"))),
	)
	f.Line()
	emitClone(f, a.goName, ev.detach(addr("e").Dot(ev.goName))...)
	emitAnyJSON(f, a)
}
