package ctf

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of declarations.
const (
	maxDepth    = 32      // of types within each other
	maxDeclared = 1 << 20 // fields and labels
	maxAlign    = 1 << 16 // bits
	maxElements = 1 << 28 // of an array
)

// A block is one of the metadata, such as event { … }: names with texts, numbers or types.
type block struct {
	kind   string
	values map[string]string
	types  map[string]*ctype
}

// A scope is where names of types are known.
type scope struct {
	types map[string]*ctype
	outer *scope
}

func (s *scope) find(name string) *ctype {
	for ; s != nil; s = s.outer {
		if t := s.types[name]; t != nil {
			return t
		}
	}
	return nil
}

func (s *scope) set(name string, t *ctype) {
	if s.types == nil {
		s.types = make(map[string]*ctype)
	}
	s.types[name] = t
}

// A parser reads the blocks of metadata.
type parser struct {
	lexer
	tok      token
	scope    *scope
	depth    int
	declared int
}

// A fault ends parsing. Within the parser it is a panic, since nearly all of its functions can
// fail.
type fault struct{ error }

// parse returns the blocks of a text, and with an error those before the fault.
func parse(text []byte) (blocks []block, err error) {
	p := &parser{lexer: lexer{src: text}, scope: &scope{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fault:
			err = r.error
		default:
			panic(r)
		}
	}()
	for p.advance(); p.tok.kind != 0; {
		switch p.tok.text {
		case "trace", "env", "clock", "stream", "event", "callsite":
			b := block{kind: p.tok.text, values: map[string]string{}, types: map[string]*ctype{}}
			p.advance()
			p.block(&b)
			p.accept(";")
			blocks = append(blocks, b)
		case ";":
			p.advance()
		default:
			p.declaration()
		}
	}
	return blocks, nil
}

func (p *parser) fail(format string, args ...any) {
	line := 1 + strings.Count(string(p.src[:p.tok.at]), "\n")
	panic(fault{fmt.Errorf("line %d of the metadata: %s", line, fmt.Sprintf(format, args...))})
}

// lacks fails because something else stands in the place of a thing.
func (p *parser) lacks(what string) { p.fail("%q stands where %s should", p.tok.text, what) }

func (p *parser) advance() {
	t, err := p.next()
	if p.tok = t; err != nil {
		p.fail("%v", err)
	}
}

func (p *parser) is(sign string) bool { return p.tok.kind != '"' && p.tok.text == sign }

func (p *parser) accept(sign string) bool {
	if p.is(sign) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(sign string) {
	if !p.accept(sign) {
		p.lacks(sign)
	}
}

func (p *parser) name() string {
	if p.tok.kind != 'n' {
		p.lacks("a name")
	}
	name := p.tok.text
	p.advance()
	return name
}

// count bounds the memory that a text can ask for.
func (p *parser) count() {
	if p.declared++; p.declared > maxDeclared {
		p.fail("more than %d fields and labels", maxDeclared)
	}
}

// enter enters a scope, and leave leaves it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail("more than %d blocks within each other", maxDepth)
	}
	p.scope = &scope{outer: p.scope}
	p.expect("{")
}

func (p *parser) leave() { p.depth, p.scope = p.depth-1, p.scope.outer }

// block reads { name = value; name := type; … }.
func (p *parser) block(b *block) {
	p.enter()
	defer p.leave()
	for !p.accept("}") {
		if p.is("typealias") || p.is("typedef") || p.tok.kind == 'n' && p.isType() {
			p.declaration()
			continue
		}
		name := p.dotted()
		p.count()
		switch {
		case p.accept("="):
			b.values[name] = p.value()
		case p.accept(":="):
			b.types[name] = p.specifier()
		default:
			p.lacks("= or :=")
		}
		p.expect(";")
	}
}

// isType reports whether a declaration of a type begins.
func (p *parser) isType() bool { return p.is("struct") || p.is("variant") || p.is("enum") }

// dotted reads a.b.c.
func (p *parser) dotted() string {
	name := p.name()
	for p.is(".") || p.is("->") {
		p.advance()
		name += "." + p.name()
	}
	return name
}

// value reads the value behind =.
func (p *parser) value() (text string) {
	switch p.tok.kind {
	case 'n':
		return p.dotted()
	case '"', '0':
		text = p.tok.text
	default:
		if !p.is("-") && !p.is("+") {
			p.lacks("a value")
		}
		text = p.tok.text
		p.advance()
		text += p.tok.text
	}
	p.advance()
	return strings.TrimPrefix(text, "+")
}

// integer returns the number that a text is, as a number with a sign that went around if it is
// less than 0.
func (p *parser) integer(text string) uint64 {
	digits, minus := strings.CutPrefix(strings.TrimRight(text, "uUlL"), "-")
	n, err := strconv.ParseUint(digits, 0, 64)
	if err != nil {
		p.fail("%q is no number", text)
	}
	if minus {
		return -n
	}
	return n
}

// small returns a number of at most so much, 0 for no text.
func (p *parser) small(text string, most uint64) int {
	if text == "" {
		return 0
	}
	n := p.integer(text)
	if n > most {
		p.fail("%s is more than %d", text, most)
	}
	return int(n)
}

// declaration reads a type that is given a name: typealias, typedef, struct, variant, enum.
func (p *parser) declaration() {
	switch {
	case p.accept("typealias"):
		t := p.specifier()
		p.expect(":=")
		p.scope.set(p.words(), t)
	case p.accept("typedef"):
		name, t := p.declarator(p.specifier())
		p.scope.set(name, t)
	case p.isType():
		p.specifier()
	default:
		p.lacks("a declaration")
	}
	p.expect(";")
}

// words reads a name of several words, such as unsigned long.
func (p *parser) words() string {
	var list []string
	for p.tok.kind == 'n' || p.is("*") {
		list = append(list, p.tok.text)
		p.advance()
	}
	return strings.Join(list, " ")
}
