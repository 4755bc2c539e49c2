package gen

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/manifest"
)

// ReferenceHeader is the first line of every reference page.
const ReferenceHeader = "<!-- Made by etwgen doc. DO NOT EDIT. -->"

// Reference returns reference pages of m, in Markdown: an index, and in a folder for each
// provider a page of its keywords and events and one for each task. They list for every
// event the keyword that selects it, its versions, and its fields, with their meaning, their
// place in the payload and the Go types that Generate makes. A provider's folder and Go
// package have the name that the manifest gives the provider with etwgen:name, or else one
// made of the provider's own name.
//
// Of the options Provider, Package, Rename and Lenient count. An empty Provider
// stands for all that have events. Package and Rename are for a single one.
func Reference(m *manifest.Manifest, opts Options) ([]File, error) {
	providers := slices.DeleteFunc(slices.Clone(m.Providers), func(p *manifest.Provider) bool { return len(p.Events) == 0 })
	if opts.Provider != "" || len(providers) == 0 {
		p, err := Select(m, opts.Provider)
		if err != nil {
			return nil, err
		}
		providers = []*manifest.Provider{p}
	}
	if len(providers) > 1 && len(opts.Rename) > 0 {
		return nil, fmt.Errorf("%s: names are given to the events of one provider; choose it with --provider", m.File)
	}
	var packages []*pkg
	var files []File
	taken := make(map[string]bool)
	for _, p := range providers {
		name := opts.Package
		if name == "" || len(providers) > 1 {
			name = packageName(p)
		}
		if taken[name] {
			return nil, fmt.Errorf("%s: two providers have the package %s; name one of them with etwgen:name", m.File, name)
		}
		taken[name] = true
		o := opts
		o.Package = name
		pk, err := build(m, p, o)
		if err != nil {
			return nil, err
		}
		packages = append(packages, pk)
		files = append(files, newReference(pk).files()...)
	}
	files = append(files, indexPage(packages))
	sortFiles(files)
	return files, nil
}

// packageName returns the name of a provider's package, where nobody says it.
func packageName(p *manifest.Provider) string {
	if p.GoName != "" {
		return strings.ToLower(p.GoName)
	}
	name := fileStem(p.Name)
	if !token.IsIdentifier(name) {
		name = "events" + name
	}
	return name
}

// A reference makes the pages of one provider.
type reference struct {
	*pkg
	anys  map[*event]*anyVersion // by the oldest version
	tasks []*taskPage
}

// A taskPage holds the events of one task, or to none.
type taskPage struct {
	m    *manifest.Task // nil for events without a task
	stem string
	ids  [][]*event // the versions of each id, the oldest first
}

func newReference(pk *pkg) *reference {
	ref := &reference{pkg: pk, anys: make(map[*event]*anyVersion)}
	for _, a := range pk.anys {
		ref.anys[a.versions[0]] = a
	}
	pages := make(map[string]*taskPage)
	for _, ev := range pk.events {
		page := pages[ev.file]
		if page == nil {
			page = &taskPage{m: ev.m.Task, stem: ev.file}
			pages[ev.file] = page
			ref.tasks = append(ref.tasks, page)
		}
		if n := len(page.ids); n > 0 && ev.isVersionOf(page.ids[n-1][0]) {
			page.ids[n-1] = append(page.ids[n-1], ev)
		} else {
			page.ids = append(page.ids, []*event{ev})
		}
	}
	slices.SortStableFunc(ref.tasks, func(a, b *taskPage) int { return cmp.Compare(a.title(), b.title()) })
	return ref
}

func (t *taskPage) title() string {
	if t.m == nil {
		return "Events without a task"
	}
	return t.m.Name
}

func (ref *reference) files() []File {
	files := []File{ref.providerPage()}
	for _, t := range ref.tasks {
		files = append(files, ref.taskPage(t))
	}
	return files
}

// indexPage lists the providers.
func indexPage(packages []*pkg) File {
	w := newPage("Reference of " + packages[0].source)
	w.para("Generated from the manifest, as the Go packages are: this page lists the events that they decode.")
	w.row("provider", "Go package", "events", "subject")
	w.rule(4)
	for _, p := range packages {
		w.row(link(p.m.Name, p.name+"/README.md"), code1(p.name), fmt.Sprint(len(p.events)), text(p.m.Doc))
	}
	return w.file("README.md")
}

// providerPage lists the keywords, tasks and events of a provider.
func (ref *reference) providerPage() File {
	w := newPage(ref.m.Name)
	w.para(text(ref.m.Doc))
	w.para(fmt.Sprintf("GUID %s, Go package %s, %s.", code1(ref.m.GUID.String()), code1(ref.name), count(len(ref.events), "event")))
	if keywords := ref.keywords(); len(keywords) > 0 {
		w.heading(2, "Keywords")
		w.row("keyword", "mask", "Go constant", "selects")
		w.rule(4)
		for i, k := range keywords {
			w.row(code1(k.Name), code1(fmt.Sprintf("%#x", k.Mask)), code1(ref.name+"."+ref.consts[0].consts[i].goName), text(cmp.Or(k.Doc, k.Message)))
		}
		w.blank()
	}
	w.heading(2, "Tasks")
	w.row("task", "value", "events", "about")
	w.rule(4)
	for _, t := range ref.tasks {
		value, doc, n := "", "", 0
		if t.m != nil {
			value, doc = fmt.Sprint(t.m.Value), cmp.Or(t.m.Doc, t.m.Message)
		}
		for _, versions := range t.ids {
			n += len(versions)
		}
		w.row(link(t.title(), t.stem+".md"), value, fmt.Sprint(n), text(doc))
	}
	w.blank()
	w.heading(2, "Events by id")
	w.row("id", "versions", "event", "level", "keywords")
	w.rule(5)
	type entry struct {
		page     *taskPage
		versions []*event
	}
	var all []entry
	for _, t := range ref.tasks {
		for _, versions := range t.ids {
			all = append(all, entry{t, versions})
		}
	}
	order.Stable(all, func(a, b entry) int {
		if a.versions[0].isClassic() && b.versions[0].isClassic() {
			return 0 // opcodes mean something in their class alone
		}
		return cmp.Compare(a.versions[0].number(), b.versions[0].number())
	})
	for _, e := range all {
		newest := e.versions[len(e.versions)-1]
		w.row(fmt.Sprint(newest.number()), versionList(e.versions),
			link(title(e.versions), e.page.stem+".md#"+anchor(eventHeading(e.versions))), levelName(newest.m), keywordNames(newest.m))
	}
	return w.file(ref.name + "/README.md")
}
