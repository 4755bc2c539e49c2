package gen

import "github.com/dave/jennifer/jen"

// emitEmbedding writes the type for all versions of an event that has one. That has
// most of the methods; the others are those that are not the same for both.
func emitEmbedding(f *jen.File, a *anyVersion) {
	ev := a.newest()
	f.Type().Id(a.goName).Struct(jen.Id("Seen").Add(rt("Seen")), jen.Id(ev.goName))
	f.Line()
	version := jen.Lit(int(ev.m.Version))
	doc(f.Group, "DecodeVersion sets e from the payload p of any version and returns how many bytes it read.")
	f.Func().Params(jen.Id("e").Op("*").Id(a.goName)).Id("DecodeVersion").Params(versionParams()...).Params(jen.Int(), jen.Error()).Block(
		jen.Id("e").Dot("Seen").Op("=").Add(rt("Seen")).Values(key("Version", jen.Id("version")), key("Layout", version)),
		jen.Return(jen.Id("e").Dot(ev.goName).Dot("DecodePayload").Call(jen.Id("p"), jen.Id("ptr"))),
	)
	f.Line()
	emitClone(f, a.goName, ev.detach(jen.Op("&").Id("e").Dot(ev.goName))...)
	emitAnyJSON(f, a)
}
