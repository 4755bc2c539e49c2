package ctf

// specifier reads a type.
func (p *parser) specifier() *ctype {
	for p.accept("const") {
	}
	switch {
	case p.accept("integer"):
		return p.numeric(&ctype{kind: kindInteger})
	case p.accept("floating_point"):
		return p.numeric(&ctype{kind: kindFloat})
	case p.accept("string"):
		if p.is("{") {
			p.block(&block{values: map[string]string{}, types: map[string]*ctype{}})
		}
		return &ctype{kind: kindString}
	case p.accept("struct"):
		return p.compound(&ctype{kind: kindStruct}, "struct ")
	case p.accept("variant"):
		return p.compound(&ctype{kind: kindVariant}, "variant ")
	case p.accept("enum"):
		return p.enum()
	}
	return p.named()
}

// named reads the name of a type, of as many words as make one.
func (p *parser) named() (found *ctype) {
	at, name := p.tok, ""
	end, after := p.lexer, p.tok
	for p.tok.kind == 'n' || p.is("*") {
		if name != "" {
			name += " "
		}
		name += p.tok.text
		p.advance()
		if t := p.scope.find(name); t != nil {
			found, end, after = t, p.lexer, p.tok
		}
		if len(name) > 256 {
			break
		}
	}
	if found == nil {
		p.tok = at
		p.fail("no type has the name %q", name)
	}
	p.lexer, p.tok = end, after
	return found
}

// numeric reads the facts of a number: { size = 8; … }.
func (p *parser) numeric(t *ctype) *ctype {
	b := block{values: map[string]string{}, types: map[string]*ctype{}}
	p.block(&b)
	v := b.values
	t.size = p.small(v["size"], 64) + p.small(v["exp_dig"], 64) + p.small(v["mant_dig"], 64)
	t.align, t.order, t.clock = p.alignment(v["align"]), orders[v["byte_order"]], v["map"]
	t.signed, t.hex, t.text = words[v["signed"]] == 's', words[v["base"]] == 'x', words[v["encoding"]] == 't'
	switch {
	case t.size == 0 || t.size > 64 || t.kind == kindFloat && t.size != 32 && t.size != 64:
		p.fail("a number of kind %d has %d bits", t.kind, t.size)
	case t.align == 0 && t.size%8 == 0:
		t.align = 8
	}
	return t
}

// words are those for numbers with a sign or in hexadecimal, and for characters.
var words = map[string]byte{
	"true": 's', "TRUE": 's', "1": 's',
	"16": 'x', "hexadecimal": 'x', "hex": 'x', "x": 'x', "X": 'x', "p": 'x',
	"UTF8": 't', "utf8": 't', "ASCII": 't', "ascii": 't',
}

// orders are the words for orders of bytes.
var orders = map[string]endian{"le": littleOrder, "be": bigOrder, "network": bigOrder}

func (p *parser) alignment(v string) int {
	n := p.small(v, maxAlign)
	if n&(n-1) != 0 {
		p.fail("the alignment %d is no power of two", n)
	}
	return n
}

// compound reads a struct or a variant, which has a name, members, or both.
func (p *parser) compound(t *ctype, prefix string) *ctype {
	name := ""
	if p.tok.kind == 'n' && !p.is("align") {
		name = prefix + p.name()
	}
	t.ref = p.tag()
	if !p.is("{") {
		known := p.known(name)
		if t.ref == "" {
			return known
		}
		copied := *known
		copied.ref = t.ref
		return &copied
	}
	p.members(t)
	if name != "" {
		p.scope.set(name, t)
	}
	return t
}

// known returns a type by its name.
func (p *parser) known(name string) *ctype {
	t := p.scope.find(name)
	if t == nil {
		p.fail("no type has the name %q", name)
	}
	return t
}

// tag reads the name of the field that tells which option a variant has, if there is one.
func (p *parser) tag() (name string) {
	if p.accept("<") {
		name = p.dotted()
		p.expect(">")
	}
	return name
}

// members reads { type name; … } align(n).
func (p *parser) members(t *ctype) {
	p.enter()
	for !p.accept("}") {
		if p.is("typealias") || p.is("typedef") {
			p.declaration()
			continue
		}
		base := p.specifier()
		for {
			name, of := p.declarator(base)
			t.fields = append(t.fields, member{name, of})
			t.align = max(t.align, of.alignment())
			if !p.accept(",") {
				break
			}
		}
		p.expect(";")
	}
	p.leave()
	if p.accept("align") {
		p.expect("(")
		t.align = max(t.align, p.alignment(p.value()))
		p.expect(")")
	}
}

// declarator reads the name of a field, and whether it is an array.
func (p *parser) declarator(t *ctype) (string, *ctype) {
	name := p.name()
	p.count()
	var lengths []ctype // a[2][3] is two times three
	for p.accept("[") {
		a := ctype{kind: kindSequence}
		if p.tok.kind == '0' {
			a.kind, a.count = kindArray, uint64(p.small(p.value(), maxElements))
		} else {
			a.ref = p.dotted()
		}
		p.expect("]")
		if lengths = append(lengths, a); len(lengths) > maxDepth {
			p.fail("more than %d arrays within each other", maxDepth)
		}
	}
	for i := len(lengths) - 1; i >= 0; i-- {
		lengths[i].elem, t = t, &lengths[i]
	}
	return name, t
}

// enum reads an enum: a name, the number that it is, { label = value … value, … }, of which
// the last two may be missing.
func (p *parser) enum() *ctype {
	t := &ctype{kind: kindEnum}
	name := ""
	if p.tok.kind == 'n' {
		name = "enum " + p.name()
	}
	if p.accept(":") {
		t.elem = p.specifier()
	}
	if !p.is("{") {
		return p.known(name)
	}
	if t.elem == nil {
		t.elem = p.scope.find("int")
	}
	if t.elem == nil || t.elem.kind != kindInteger {
		p.fail("an enum is no integer")
	}
	t.signed = t.elem.signed
	p.labels(t)
	if name != "" {
		p.scope.set(name, t)
	}
	return t
}

func (p *parser) labels(t *ctype) {
	p.expect("{")
	next := uint64(0)
	for !p.accept("}") {
		l := label{name: p.tok.text, lo: next, hi: next}
		if p.tok.kind != 'n' && p.tok.kind != '"' {
			p.lacks("a label")
		}
		p.advance()
		if p.accept("=") {
			l.lo = p.integer(p.value())
			if l.hi = l.lo; p.accept("...") {
				l.hi = p.integer(p.value())
			}
		}
		next = l.hi + 1
		p.count()
		t.labels = append(t.labels, l)
		if !p.accept(",") && !p.is("}") {
			p.lacks("a comma")
		}
	}
}
