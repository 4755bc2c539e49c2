package manifest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"os"

	"github.com/beevik/etree"
	"github.com/etwgen/etwgen/runtime/etw"
)

// notGUID is the message about text that cannot be read as a GUID.
const notGUID = "not a GUID of the form {00000000-0000-0000-0000-000000000000}"

// rootTag is the root element of every manifest.
const rootTag = "instrumentationManifest"

// Options say how to read a manifest. The zero Options are for manifests that
// people write.
type Options struct {
	// Lenient accepts the contents of dumps of registered providers although Windows refuses
	// it, with warnings where something is lost or reinterpreted.
	Lenient bool

	// Notes asks for warnings about parts that Windows accepts although its documentation
	// does not allow it.
	Notes bool

	// Culture, such as de-DE, chooses the language of messages. Where it lacks a
	// text, or Culture is "", the first language in the file that has one is used.
	Culture string

	// SelfDescribing says that the providers are self-describing EventSources, as
	// etwgen:events="self-describing" does.
	SelfDescribing bool

	// Overrides describe payloads that differ from the manifest.
	Overrides *Overrides
}

// ParseFile reads the manifest in a file and, unless the options have some, the
// overrides beside it: see [ReadOverrides].
func ParseFile(path string, opts Options) (*Manifest, ErrorList, error) {
	data, err := os.ReadFile(path)
	if err == nil && opts.Overrides == nil {
		opts.Overrides, err = ReadOverrides(path)
	}
	if err != nil {
		return nil, nil, err
	}
	return Parse(path, data, opts)
}

// Parse reads a manifest. Positions are in a file with the given name.
//
// It finds everything that is wrong before it returns: the error is an
// [ErrorList], and the manifest is nil. The first list has the warnings, which
// are returned in either case. Both are in the order of the file.
func Parse(name string, data []byte, opts Options) (*Manifest, ErrorList, error) {
	m, warnings, err := parse(name, data, opts)
	if err == nil || !opts.Lenient {
		return m, warnings, err
	}
	if escaped := escapeDump(data); !bytes.Equal(escaped, data) {
		if m, warnings, err := parse(name, escaped, opts); err == nil {
			return m, warnings, nil
		}
	}
	return m, warnings, err
}

// parse is Parse of well-formed text.
func parse(name string, data []byte, opts Options) (*Manifest, ErrorList, error) {
	p := &parser{
		file:       name,
		opts:       opts,
		m:          &Manifest{File: name},
		prefixes:   map[string]string{winmetaURI: "win", schemaURI: "xs"},
		undeclared: make(map[string]prefixUse),
		causes:     make(map[cause]*Error),
		strays:     make(map[declaration]*stray),
		byGUID:     make(map[etw.GUID]*providerParser),
		overrides:  make(map[*override]bool),
	}
	p.document(data)
	p.reportOverrides()
	p.reportPrefixes()
	p.reportStrays()
	p.countCauses()
	p.warnings.Sort()
	p.errors.Sort()
	if err := p.errors.err(); err != nil {
		return nil, p.warnings, err
	}
	return p.m, p.warnings, nil
}

// A parser holds the state of one call of Parse.
type parser struct {
	file     string
	opts     Options
	m        *Manifest
	errors   ErrorList
	warnings ErrorList

	prefixes   map[string]string    // by namespace: how names in it are spelled
	undeclared map[string]prefixUse // by prefix
	strings    stringTables
	guesses    int                          // how many names nearest has looked at
	byGUID     map[etw.GUID]*providerParser // the first provider with a GUID
	causes     map[cause]*Error             // what is reported once for many places
	ignored    []*stray                     // elements that mean nothing where they are
	strays     map[declaration]*stray       // by what they would declare elsewhere
	overrides  map[*override]bool           // those that an event has
}

func (p *parser) pos(at place) Pos { return Pos{p.file, at.line, at.col} }

// diagnostic makes an error or a warning. It and those that call it are not inlined: a manifest has
// few faults, and this package speaks of many.
//
//go:noinline
func (p *parser) diagnostic(at place, format string, args ...any) *Error {
	return &Error{Pos: p.pos(at), Msg: fmt.Sprintf(format, args...), rule: format}
}

// fail reports an error at a node, and returns it.
//
//go:noinline
func (p *parser) fail(n *node, format string, args ...any) *Error {
	e := p.diagnostic(n.at, format, args...)
	p.errors = append(p.errors, e)
	return e
}

func (p *parser) failAt(at place, msg string) {
	p.errors = append(p.errors, &Error{Pos: p.pos(at), Msg: msg})
}

// warn reports a warning at a node, and returns it.
//
//go:noinline
func (p *parser) warn(n *node, format string, args ...any) *Error {
	e := p.diagnostic(n.at, format, args...)
	p.warnings = append(p.warnings, e)
	return e
}

// strictly reports a fault that is an error in strict mode and a warning in lenient mode,
// and returns it.
func (p *parser) strictly(n *node, format string, args ...any) *Error {
	if p.opts.Lenient {
		return p.warn(n, format, args...)
	}
	return p.fail(n, format, args...)
}

// doubt reports a doubt that is a warning in strict mode and accepted without a word in
// lenient mode.
func (p *parser) doubt(n *node, format string, args ...any) {
	p.doubtAt(n.at, format, args...)
}

//go:noinline
func (p *parser) doubtAt(at place, format string, args ...any) {
	if !p.opts.Lenient {
		p.warnings = append(p.warnings, p.diagnostic(at, format, args...))
	}
}

// note reports a breach of a documented rule that nobody follows.
func (p *parser) note(n *node, format string, args ...any) {
	if p.opts.Notes {
		p.warn(n, format, args...)
	}
}

// document reads a file in four steps: the encoding, the markup, the tree, and its meaning.
// A fault in one of the first three ends it.
func (p *parser) document(data []byte) {
	t, offset, problem := decodeText(data)
	if problem != "" {
		s := &scanner{src: t.src, line: 1}
		p.failAt(s.placeOf(offset), problem)
		return
	}
	places, markup := scan(t.src)
	if markup != nil {
		p.failAt(markup.at, markup.msg)
		return
	}
	doc := etree.NewDocument()
	doc.ReadSettings = etree.ReadSettings{
		CharsetReader:          t.charsetReader,
		PreserveDuplicateAttrs: true,
		MaxDepth:               maxDepth,
	}
	if err := doc.ReadFromBytes(t.src); err != nil {
		at, err := faultOf(t, err)
		p.failAt(at, "not well-formed XML: "+err.Error())
		return
	}
	p.root(p.grow(doc.Root(), places))
}

// faultOf finds the place of an error that package etree reports without one.
func faultOf(t text, treeErr error) (place, error) {
	d := xml.NewDecoder(bytes.NewReader(t.src))
	d.CharsetReader = t.charsetReader
	for {
		if _, err := d.RawToken(); err != nil {
			s := &scanner{src: t.src, line: 1}
			at := s.placeOf(min(int(d.InputOffset()), len(t.src)))
			if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
				treeErr = errors.New(syntax.Msg)
			}
			return at, treeErr
		}
	}
}

// root reads the document's element.
func (p *parser) root(root *node) {
	if root.el.Tag != rootTag || root.vocab != events {
		p.fail(root, "no ETW provider: the document is <%s>, not <%s> of namespace %s", trim(root.el.Tag), rootTag, eventsURI)
		return
	}
	p.checkVocabulary(root)
	p.readStrings(root)
	for in := range root.children("instrumentation") {
		for c := range in.children("events", "provider") {
			if c.el.Tag == "provider" {
				p.doubt(c, "provider outside <events>; move it into <events>")
				p.provider(c)
				continue
			}
			for pn := range c.children("provider") {
				p.provider(pn)
			}
		}
	}
	if len(p.m.Providers) == 0 {
		p.fail(root, "no ETW provider: the manifest declares none within <instrumentation><events>")
	}
}

// A providerParser holds the names by which the parts of one provider refer to
// each other.
type providerParser struct {
	*parser
	prov *Provider

	// reconstructed says, in lenient mode, whether the provider may come from a
	// dump.
	reconstructed bool

	channels     map[string]*Channel // by chid, or by name where there is none
	channelNames map[string]*Channel
	levels       map[string]*Level
	keywords     map[string]*Keyword
	maps         map[string]*Map
	opcodes      map[string]*Opcode           // global
	local        map[*Task]map[string]*Opcode // by task
	anywhere     map[string]*Opcode           // of any task, the first by that name
	tasks        map[string]*Task
	templates    map[string]*Template
	events       map[eventKey]*Event
	classic      map[etw.Key]*Event
	named        map[namedKey]*Event
	symbols      map[string]*Event
}

// provider reads a provider.
func (p *parser) provider(n *node) {
	pp := &providerParser{
		parser:        p,
		prov:          &Provider{Pos: p.pos(n.at)},
		reconstructed: p.opts.Lenient && isReconstructed(n),
		channels:      make(map[string]*Channel),
		channelNames:  make(map[string]*Channel),
		levels:        make(map[string]*Level),
		keywords:      make(map[string]*Keyword),
		maps:          make(map[string]*Map),
		opcodes:       make(map[string]*Opcode),
		local:         make(map[*Task]map[string]*Opcode),
		anywhere:      make(map[string]*Opcode),
		tasks:         make(map[string]*Task),
		templates:     make(map[string]*Template),
		events:        make(map[eventKey]*Event),
		named:         make(map[namedKey]*Event),
		symbols:       make(map[string]*Event),
		classic:       make(map[etw.Key]*Event),
	}
	p.m.Providers = append(p.m.Providers, pp.prov)
	pp.identity(n)
	pp.declarations(n)
	for c := range n.children("templates") {
		for t := range c.children("template") {
			pp.template(t)
		}
	}
	for c := range n.children("events") {
		for e := range c.children("event") {
			pp.event(e)
		}
	}
}

// identity reads the attributes of a provider.
func (p *providerParser) identity(n *node) {
	prov := p.prov
	prov.Name = p.required(n, "name")
	prov.Symbol = n.attr("symbol")
	if s := prov.Symbol; s != "" && Symbol(s) != s {
		p.doubt(n, "symbol %s of provider %s is not a C identifier; use letters, digits and _, and begin with a letter", quote(s), quote(prov.Name))
	}
	prov.Message, prov.MessageID = p.message(n)
	prov.ResourceFile = n.attr("resourceFileName")
	prov.MessageFile = n.attr("messageFileName")
	prov.ParameterFile = n.attr("parameterFileName")
	prov.Doc, prov.GoName = p.docName(n)
	p.kindOfEvents(n, prov)
	_, hasSymbol := n.lookup("symbol")
	if _, ours := n.extension("events"); !hasSymbol && !ours && prov.Name != "" {
		p.doubt(n, "provider %s has no symbol, which Microsoft's compiler asks for; add one, such as %s", quote(prov.Name), quote(Symbol(prov.Name)))
	}
	prov.EventSource = prov.EventSource || isEventSource(n)
	p.checkProviderName(n, prov.Name)

	guid, ok := n.lookup("guid")
	if !ok {
		p.fail(n, "provider %s has no guid attribute; give it a new GUID", quote(prov.Name))
		return
	}
	var err error
	if prov.GUID, err = etw.ParseGUID(guid); err != nil {
		p.fail(n, "guid %s of provider %s is %s", quote(guid), quote(prov.Name), notGUID)
		return
	}
	if prov.GUID.IsZero() {
		p.fail(n, "the guid of provider %s is zero; give it a new GUID", quote(prov.Name))
		return
	}
	if first, again := p.byGUID[prov.GUID]; again {
		p.doubt(n, "providers %s and %s have the same guid; give each its own", quote(first.prov.Name), quote(prov.Name))
	} else {
		p.byGUID[prov.GUID] = p
	}
}

// required returns the value of an attribute that must be there.
func (p *parser) required(n *node, attr string) string {
	v, ok := n.lookup(attr)
	switch {
	case !ok:
		p.fail(n, "%s has no %s attribute; add one", n.el.Tag, attr)
	case v == "":
		p.fail(n, "the %s attribute of %s is empty; give it a value", attr, n.el.Tag)
	}
	return v
}
