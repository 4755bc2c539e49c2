package manifest

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// rest is the value of etwgen:count for the rest of the payload.
const rest = "*"

// count reads the number of elements of a field. etwgen:count takes precedence over count:
// it tells the provider's payload, while count was told to the message compiler.
func (l *layout) count(n *node, f *Field) Size {
	declared, given := n.lookup("count")
	actual, extended := n.extension("count")
	size := Size{}
	if given {
		var found bool
		if size, found = l.size(n, f, "count", declared); !found && !extended {
			l.lose(n, fmt.Sprintf("count of field %s names %s, but no earlier field has that name", quote(f.Name), quote(declared)), absentRemedy)
		}
	}
	if !extended {
		return size
	}
	if actual = strings.TrimSpace(actual); actual == rest {
		if !l.top {
			l.fail(n, "etwgen:count=\"*\" of field %s is in a struct; only the last field of a template can take the rest", quote(f.Name))
		}
		return Size{Kind: etw.SizeRest}
	}
	size, found := l.size(n, f, "etwgen:count", actual)
	if !found {
		l.fail(n, "etwgen:count of field %s names %s, but no earlier field has that name; %s", quote(f.Name), quote(actual), absentRemedy)
	}
	return size
}

// absentRemedy names the remedy for a reference to a field that is not there.
const absentRemedy = "name a field that comes before this one"

// length reads the length of a field, or of each of its elements.
func (l *layout) length(n *node, f *Field) Size {
	text, given := n.lookup("length")
	if actual, ok := n.extension("length"); ok {
		return l.restOfPayload(n, f, actual)
	}
	if !given {
		if f.Type == etw.InBinary {
			return l.withoutLength(n, f, "field "+quote(f.Name)+" has type win:Binary but no length",
				"give the number of bytes, or the field that holds it")
		}
		return Size{}
	}
	switch {
	case isString(f.Type), f.Type == etw.InBinary:
	case f.Type == etw.InSID && l.opts.Lenient:
		l.warn(n, "field %s of type %s has a length, which is taken as an upper bound", quote(f.Name), f.Type)
	case f.Type == etw.InSID:
		l.fail(n, "field %s of type %s cannot have a length; its header already says it", quote(f.Name), f.Type)
		return Size{}
	case isCounted(f.Type):
		l.fail(n, "field %s of type %s cannot have a length; the payload holds one before each value", quote(f.Name), f.Type)
		return Size{}
	default:
		l.fail(n, "field %s of type %s cannot have a length, because its size is fixed; use count for an array", quote(f.Name), f.Type)
		return Size{}
	}
	size, found := l.size(n, f, "length", text)
	if found {
		return size
	}
	problem := fmt.Sprintf("length of field %s names %s, but no earlier field has that name", quote(f.Name), quote(text))
	if f.Type == etw.InBinary {
		return l.withoutLength(n, f, problem, absentRemedy)
	}
	l.lose(n, problem, absentRemedy)
	return Size{}
}

// restOfPayload reads etwgen:length.
func (l *layout) restOfPayload(n *node, f *Field, text string) Size {
	switch {
	case strings.TrimSpace(text) != rest:
		l.fail(n, "etwgen:length of field %s is %s; it can be * alone, for the rest of the payload", quote(f.Name), quote(text))
	case f.Type != etw.InBinary || f.Count.Kind != etw.SizeNone:
		l.fail(n, "etwgen:length of field %s is for a single win:Binary; use etwgen:count for an array", quote(f.Name))
	case !l.top:
		l.fail(n, "etwgen:length=\"*\" of field %s is in a struct; only the last field of a template can take the rest", quote(f.Name))
	}
	return Size{Kind: etw.SizeRest}
}

// withoutLength decides on a binary field whose length a dump has lost: the last
// field of a template takes the rest of the payload.
func (l *layout) withoutLength(n *node, f *Field, problem, remedy string) Size {
	if !l.opts.Lenient || !l.top || n != l.last || f.Count.Kind != etw.SizeNone {
		l.lose(n, problem, remedy)
		return Size{}
	}
	l.warn(n, "%s: the field takes the rest of the payload", problem)
	return Size{Kind: etw.SizeRest}
}

// size reads a count or a length: a constant, or the name of an earlier field,
// in the same scope or around the struct. It reports whether there is such a
// field.
func (l *layout) size(n *node, f *Field, attr, text string) (size Size, found bool) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		if v, ok := parseNumber(text, 64); ok || strings.Trim(text, "0123456789") == "" {
			if !ok || v == 0 || v > 0xffff {
				l.fail(n, "%s %s of field %s is not between 1 and 65535; for a number that varies, give the name of a field", attr, text, quote(f.Name))
			}
			return Size{Kind: etw.SizeConst, Const: uint16(v)}, true
		}
	}
	up := 0
	for s := l; s != nil; s = s.outer {
		target := s.byName[text]
		if target == nil && l.opts.Lenient {
			target = s.bare[bareName(text)]
		}
		if target != nil {
			l.checkTarget(n, f, attr, target)
			return Size{Kind: etw.SizeField, Field: target, Up: up}, true
		}
		if s.later[text] && text == f.Name {
			l.fail(n, "%s of field %s names that field itself; name one that comes before it", attr, quote(f.Name))
			return Size{}, true
		}
		if s.later[text] {
			l.fail(n, "%s of field %s names %s, which comes later; move that field before this one", attr, quote(f.Name), quote(text))
			return Size{}, true
		}
		up++
	}
	return Size{}, false
}

// checkTarget checks that a field can be the count or the length of another.
func (l *layout) checkTarget(n *node, f *Field, attr string, target *Field) {
	switch {
	case target.Type == etw.InNull: // reported already
	case target.When != etw.When{}:
		l.fail(n, "%s of field %s names %s, which has an etwgen:when; take one that is always there", attr, quote(f.Name), quote(target.Name))
	case target.Count.Kind != etw.SizeNone:
		l.fail(n, "%s of field %s names %s, which is an array; use a single integer", attr, quote(f.Name), quote(target.Name))
	case !CanCount(target.Type):
		l.fail(n, "%s of field %s names %s of type %s; use one of type win:UInt8, win:UInt16 or win:UInt32", attr, quote(f.Name), quote(target.Name), target.Type)
	}
}

// bareName returns a name without the parts that dumps drop from the names of fields, but
// not from references to them.
func bareName(s string) string {
	keep := func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return -1
	}
	return strings.Map(keep, s)
}
