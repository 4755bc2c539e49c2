package gen

import (
	"slices"

	"github.com/dave/jennifer/jen"
)

// embeds reports whether the type for all versions of an event is the type of the
// only one with Seen beside it. It cannot be if the name of that type hides a field or
// a method of it.
func (a *anyVersion) embeds() bool {
	ev := a.newest()
	return len(a.versions) == 1 && !reservedFields[ev.goName] && !slices.ContainsFunc(ev.fields(), func(f *field) bool {
		return ev.goName == f.goName || ev.goName == f.has || ev.goName == f.getter
	})
}

// emitEmbedding writes the type for all versions of an event that has one. That has
// most of the methods; the others are those that are not the same for both.
func emitEmbedding(f *jen.File, a *anyVersion) {
	ev := a.newest()
	f.Type().Id(a.goName).Struct(jen.Id("Seen").Add(rt("Seen")), jen.Id(ev.goName))
	f.Line()
	doc(f.Group, "EventDescs returns the description of the known version, DecodePayload decodes that version, and DecodeVersion any.")
	f.Func().Params(jen.Op("*").Id(a.goName)).Id("EventDescs").Params().Index().Op("*").Add(rt("EventDesc")).
		Add(brief(jen.Return(jen.Index().Op("*").Add(rt("EventDesc")).Values(jen.Op("&").Id(ev.desc)))))
	decode := func(name string, params []jen.Code) *jen.Statement {
		return f.Func().Params(jen.Id("e").Op("*").Id(a.goName)).Id(name).Params(params...).Params(jen.Int(), jen.Error())
	}
	version := jen.Lit(int(ev.m.Version))
	decode("DecodePayload", payloadParams()).
		Add(brief(jen.Return(jen.Id("e").Dot("DecodeVersion").Call(version, jen.Id("p"), jen.Id("ptr")))))
	decode("DecodeVersion", versionParams()).Block(
		jen.Id("e").Dot("Seen").Op("=").Add(rt("Seen")).Values(key("Version", jen.Id("version")), key("Layout", version)),
		jen.Return(jen.Id("e").Dot(ev.goName).Dot("DecodePayload").Call(jen.Id("p"), jen.Id("ptr"))),
	)
	f.Line()
	emitClone(f, a.goName, ev.detach(jen.Op("&").Id("e").Dot(ev.goName))...)
}
