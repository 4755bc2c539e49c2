package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// emit writes the package: its provider, its maps, and a file for each task.
func (p *pkg) emit(opts Options) ([]File, error) {
	byName := make(map[string]*jen.File)
	file := func(stem string) *jen.File {
		f := byName[stem]
		if f == nil {
			f = p.newFile()
			byName[stem] = f
		}
		return f
	}
	if o := opts.Origin; o != nil {
		emitOrigin(file("provider"), o)
	}
	if opts.PackageDoc {
		for _, line := range docLines(docWidth, p.doc()...) {
			file("provider").PackageComment(line)
		}
	}
	p.emitProvider(file("provider"))
	for _, e := range p.enums {
		emitEnum(file("maps"), e)
	}
	p.emitEvents(file)
	outputs := make(map[string]*jen.File)
	for stem, f := range byName {
		outputs[stem+".etw.go"] = f
	}
	if opts.Tests || opts.Origin != nil && opts.Origin.Manifest != "" {
		tests, err := p.emitTests(opts)
		if err != nil {
			return nil, err
		}
		outputs["provider.etw_test.go"] = tests
	}
	files, err := renderAll(outputs)
	if err != nil || !opts.Tests {
		return files, err
	}
	golden, err := p.golden()
	files = append(files, golden)
	sortFiles(files)
	return files, err
}

// emitEvents writes the types of events, and of their parts, each into its file.
func (p *pkg) emitEvents(file func(stem string) *jen.File) {
	structs := make(map[*layout][]*structType)
	for _, s := range p.structs {
		structs[s.layout] = append(structs[s.layout], s)
	}
	anys := make(map[*event]*anyVersion) // by the newest version
	for _, a := range p.anys {
		anys[a.newest()] = a
	}
	for _, ev := range p.events {
		f := file(ev.file)
		emitEvent(f, ev)
		if l := ev.layout; l != nil && l.events[0] == ev {
			if l.goName != "" {
				emitLayout(f, l)
			}
			for _, s := range structs[l] {
				emitStruct(f, s)
			}
		}
		if a := anys[ev]; a != nil {
			emitAny(f, a)
			if l := a.layout; l.goName != "" && l.anys[0] == a {
				emitAnyLayout(f, l)
			}
		}
	}
}

// newFile returns an empty file of the package.
func (p *pkg) newFile() *jen.File {
	f := jen.NewFile(p.name)
	f.HeaderComment(Header)
	f.HeaderComment("// source: " + oneLine(p.source))
	f.ImportName(runtimePath, "etw")
	return f
}

// CommandMark is the text in the header of a package before the command that makes it again.
const CommandMark = "// command: "

// emitOrigin adds to the header how the package was made. Only one file has it, so that
// those which would be the same stay the same.
func emitOrigin(f *jen.File, o *Origin) {
	f.HeaderComment(CommandMark + o.Command)
	f.HeaderComment(fmt.Sprintf("// version: %d", generation))
	f.HeaderComment("// fingerprint: " + o.Fingerprint)
}

// emitProvider writes the description of the provider and all constants.
func (p *pkg) emitProvider(f *jen.File) {
	f.Comment("// The package and the runtime must fit each other: see etw.EnforceVersion.")
	f.Const().Defs(
		id("_").Op("=").Add(rt("EnforceVersion")).Call(jen.Lit(generation).Op("-").Add(rt("MinVersion"))),
		id("_").Op("=").Add(rt("EnforceVersion")).Call(rt("MaxVersion").Op("-").Lit(generation)),
	)
	f.Line()
	f.Var().Id("providerDesc").Op("=").Add(rt("ProviderDesc")).Add(lines(p.descFields()...))
	f.Line()
	doc(f.Group, fmt.Sprintf("Provider is %s %s.", p.m.Name, p.m.GUID), p.m.Doc)
	f.Var().Id("Provider").Op("=").Op("&").Add(rt("Provider")).Add(lines(p.providerFields()...))
	f.Line()
	p.emitTypes(f)
	p.emitClasses(f)
	p.emitKeyword(f)
	p.emitTask(f)
	for _, getter := range slices.Sorted(maps.Keys(p.accessors)) {
		if a := p.accessors[getter]; !a.differs {
			f.Line()
			emitAccessor(f, a)
		}
	}
	for _, g := range p.consts {
		if len(g.consts) > 0 {
			f.Line()
			emitConsts(f, g)
		}
	}
}

// generation is the version of generated code that this generator writes: see
// etw.EnforceVersion.
const generation = 5

// descFields returns the fields of the description of the provider.
func (p *pkg) descFields() []jen.Code {
	fields := []jen.Code{key("Name", jen.Lit(p.m.Name)), key("GUID", guid(p.m.GUID)), key("Generated", jen.True())}
	if p.m.EventSource {
		fields = append(fields, key("EventSource", jen.True()))
	}
	if costly := p.m.Costly(); costly != 0 {
		fields = append(fields, key("Costly", hex(costly)))
	}
	return fields
}

func (p *pkg) providerFields() []jen.Code {
	fields := []jen.Code{key("Desc", addr("providerDesc"))}
	var levels []jen.Code
	events := p.byEvent(func(ev *event) part { return addressPart(ev.desc) })
	for _, l := range p.m.Levels {
		levels = append(levels, jen.Values(key("Name", jen.Lit(l.Name)), key("Value", jen.Lit(int(l.Value)))))
	}
	if len(events) > 0 {
		fields = append(fields, key("Events", jen.Index().Op("*").Add(rt("EventDesc")).Add(lines(events...))))
	}
	if len(p.keywords()) > 0 {
		fields = append(fields, key("Keywords", id("keywordDescs")))
	}
	if len(levels) > 0 {
		fields = append(fields, key("Levels", jen.Index().Add(rt("LevelDesc")).Add(lines(levels...))))
	}
	return fields
}

// byEvent returns the output of item for the events that records lead to, from a new line
// for each with all its versions.
func (p *pkg) byEvent(item func(*event) part) []jen.Code {
	var rows []jen.Code
	var versions []part
	for i, ev := range p.events {
		if ev.lost != "" {
			continue
		}
		versions = append(versions, item(ev))
		if i+1 == len(p.events) || !p.events[i+1].isVersionOf(ev) {
			rows = append(rows, fold(versions...)...)
			versions = nil
		}
	}
	return rows
}

// emitTypes writes the function that makes an event of each type. It is a function, and
// no variable, so that programs which do not call it link the types that they use.
func (p *pkg) emitTypes(f *jen.File) {
	rows := p.byEvent(func(ev *event) part {
		return part{jen.New(id(ev.goName)), len("new()") + len(ev.goName)}
	})
	doc(f.Group, "Types returns an event of each type: those of Provider.Events, in their order.")
	head := f.Func().Id("Types").Params().Index().Add(rt("Event"))
	if len(rows) == 0 {
		head.Add(brief(jen.Return(jen.Nil())))
		return
	}
	head.Block(jen.Return(jen.Index().Add(rt("Event")).Add(lines(rows...))))
}

// emitClasses writes the classes of events, which all of a task have.
func (p *pkg) emitClasses(f *jen.File) {
	if len(p.classes) == 0 {
		return
	}
	f.Line()
	f.Comment("// The classes of events, one for each task.")
	f.Var().DefsFunc(func(d *jen.Group) {
		classes := slices.Collect(maps.Keys(p.classes))
		order.Sort(classes, func(a, b etw.GUID) int { return strings.Compare(p.classes[a], p.classes[b]) })
		for _, class := range classes {
			d.Id(p.classes[class]).Op("=").Add(guid(class))
		}
	})
}

// emitKeyword writes the type of keywords.
func (p *pkg) emitKeyword(f *jen.File) {
	if len(p.keywords()) == 0 {
		return
	}
	receiver := func() *jen.Statement { return f.Func().Params(id("k").Id(p.keyword)) }
	f.Line()
	doc(f.Group, p.keyword+" is a set of keywords of the provider."+givenWay(p.keyword, "Keyword"))
	f.Type().Id(p.keyword).Uint64()
	f.Line()
	doc(f.Group, "Enable returns the settings of a session for events of the keywords, up to a level.")
	receiver().Id("Enable").Params(id("level").Add(rt("Level"))).Add(rt("Enable")).Block(
		jen.Return(rt("Enable").Values(key("Provider", addr("providerDesc")), key("Keywords", jen.Uint64().Call(id("k"))), key("Level", id("level")))),
	)
	f.Line()
	doc(f.Group, "String returns the names of the keywords, joined by |.")
	receiver().Id("String").Params().String().Add(brief(jen.Return(rt("KeywordNames").Call(id("keywordDescs"), jen.Uint64().Call(id("k"))))))
	f.Line()
	var descs []jen.Code
	for _, k := range p.keywords() {
		descs = append(descs, jen.Values(key("Name", jen.Lit(k.Name)), key("Mask", hex(k.Mask))))
	}
	f.Var().Id("keywordDescs").Op("=").Index().Add(rt("KeywordDesc")).Add(lines(descs...))
}

// emitTask writes the type of tasks.
func (p *pkg) emitTask(f *jen.File) {
	if !slices.ContainsFunc(p.consts, func(g *constGroup) bool { return g.doc == tasksDoc && len(g.consts) > 0 }) {
		return
	}
	f.Line()
	doc(f.Group, p.task+" is a task of the provider."+givenWay(p.task, "Task"))
	f.Type().Id(p.task).Uint16()
	f.Line()
	doc(f.Group, "String returns the name of the task, or Task and its number if it has none.")
	head := newMethod(f, id("t").Id(p.task), "String").Params().String()
	byEvent := jen.Return(dot("Provider", "TaskName").Call(jen.Uint16().Call(id("t"))))
	cases := p.eventless()
	if len(cases) == 0 {
		head.Add(brief(byEvent))
		return
	}
	head.Block(jen.Switch(id("t")).Block(cases...), byEvent)
}

// eventless returns the cases of a switch for the tasks that no event has, whose names
// descriptions of events do not tell.
func (p *pkg) eventless() []jen.Code {
	told := make(map[uint16]bool)
	for _, ev := range p.events {
		if ev.m.Task != nil && ev.lost == "" {
			told[ev.m.Task.Value] = true
		}
	}
	var cases []jen.Code
	for _, t := range p.m.Tasks {
		if name := p.goNames[t]; name != "" && !told[t.Value] {
			told[t.Value] = true
			cases = append(cases, jen.Case(id(name)).Block(jen.Return(jen.Lit(t.Name))))
		}
	}
	return cases
}

// givenWay says why a type that most packages have is called otherwise in this one.
func givenWay(name, usual string) string {
	if name == usual {
		return ""
	}
	return fmt.Sprintf(" Most packages call it %s, which the manifest has a thing of its own for.", usual)
}

// emitConsts writes a block of constants.
func emitConsts(f *jen.File, g *constGroup) {
	doc(f.Group, g.doc)
	f.Const().DefsFunc(func(d *jen.Group) {
		for _, c := range g.consts {
			doc(d, c.doc)
			value := jen.Lit(int(c.value))
			if g.hex {
				value = hex(c.value)
			}
			d.Id(c.goName).Add(g.goType.Clone()).Op("=").Add(value)
		}
	})
}
