package manifest

import (
	"maps"
	"slices"
	"strings"
)

// A stray is an element that means nothing where it stands, so that nothing
// within it is declared. It stands for all errors about references to that.
type stray struct {
	n          *node
	references int
}

// A declaration is a target of references.
type declaration struct{ kind, name string }

// declares has the attributes that name an element's declaration, by its tag, and the kind
// of it.
var declares = map[string]struct{ kind, attrs string }{
	"task":          {"task", "name"},
	"opcode":        {"opcode", "name"},
	"keyword":       {"keyword", "name"},
	"level":         {"level", "name"},
	"channel":       {"channel", "chid name"},
	"importChannel": {"channel", "chid name"},
	"template":      {"template", "tid"},
	"valueMap":      {"map", "name"},
	"bitMap":        {"map", "name"},
}

// ignore remembers an element that means nothing, with the declarations that it would make.
func (p *parser) ignore(n *node) {
	s := &stray{n: n}
	p.ignored = append(p.ignored, s)
	p.collect(s, n)
}

// collect enters the declarations that n and all within it would make.
func (p *parser) collect(s *stray, n *node) {
	d := declares[n.el.Tag]
	for _, attr := range words(d.attrs) {
		key := declaration{d.kind, n.attr(attr)}
		if p.strays[key] == nil {
			p.strays[key] = s
		}
	}
	for c := n.first; c != nil; c = c.next {
		if c.vocab == events {
			p.collect(s, c)
		}
	}
}

// strayed reports whether a stray element would declare a name. If so the
// reference is counted for that.
func (p *parser) strayed(kind, name string) bool {
	s := p.strays[declaration{kind, name}]
	if s != nil {
		s.references++
	}
	return s != nil
}

// reportStrays reports the elements that mean nothing. They are typing errors
// more often than not.
func (p *parser) reportStrays() {
	for _, s := range p.ignored {
		in := s.n.parent.el.Tag
		switch {
		case s.references > 0:
			e := p.fail(s.n, "element %s has no meaning in %s and is ignored, so %s cannot be resolved; %s",
				quote(s.n.el.Tag), in, plural(s.references, "reference"), p.strayRemedy(s.n.el.Tag, in))
			e.more = s.references
		case !p.opts.Lenient:
			p.doubt(s.n, "element %s has no meaning in %s and is ignored; %s", quote(s.n.el.Tag), in, p.strayRemedy(s.n.el.Tag, in))
		}
	}
}

// strayRemedy names the remedy for an element that means nothing in another.
func (p *parser) strayRemedy(tag, in string) string {
	if homes := homesOf(tag); len(homes) > 0 {
		return "move it into <" + strings.Join(homes, "> or <") + ">"
	}
	if near := p.nearest(tag, slices.Values(elementRules[in].children)); near != "" {
		return didYouMean(near)
	}
	return "correct or remove it"
}

// homesOf returns the elements that an element belongs in.
func homesOf(tag string) []string {
	var homes []string
	for _, name := range slices.Sorted(maps.Keys(elementRules)) {
		if slices.Contains(elementRules[name].children, tag) {
			homes = append(homes, name)
		}
	}
	return homes
}
