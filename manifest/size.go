package manifest

import (
	"fmt"
	"strings"
)

// rest is the value of etwgen:count for the rest of the payload.
const rest = "*"

// count reads the number of elements of a field. etwgen:count comes before
// count: it says what is, where count says what the message compiler was told.
func (l *layout) count(n *node, f *Field) Size {
	declared, given := n.lookup("count")
	actual, extended := n.extension("count")
	size := Size{}
	if given {
		var found bool
		if size, found = l.size(n, f, "count", declared); !found && !extended {
			l.lose(n, fmt.Sprintf("count of field %s names %s, which is no earlier field", quote(f.Name), quote(declared)), absentRemedy)
		}
	}
	if !extended {
		return size
	}
	if actual = strings.TrimSpace(actual); actual == rest {
		if !l.top {
			l.fail(n, "etwgen:count=\"*\" of field %s is in a struct; only the last field of a template can take the rest", quote(f.Name))
		}
		return Size{Kind: RestSize}
	}
	size, found := l.size(n, f, "etwgen:count", actual)
	if !found {
		l.fail(n, "etwgen:count of field %s names %s, which is no earlier field; %s", quote(f.Name), quote(actual), absentRemedy)
	}
	return size
}

// absentRemedy says what to do about a reference to a field that is not there.
const absentRemedy = "name a field in front of this one"

// length reads the length of a field, or of each of its elements.
func (l *layout) length(n *node, f *Field) Size {
	text, given := n.lookup("length")
	if !given {
		if f.Type == Binary {
			return l.withoutLength(n, f, "field "+quote(f.Name)+" is win:Binary without a length",
				"give it the number of bytes, or the field that has it")
		}
		return Size{}
	}
	switch {
	case f.Type.IsString(), f.Type == Binary:
	case f.Type == SID && l.opts.Lenient:
		l.warn(n, "field %s of type %s has a length, which bounds it", quote(f.Name), f.Type)
	case f.Type == SID:
		l.fail(n, "field %s of type %s cannot have a length; its own header has it", quote(f.Name), f.Type)
		return Size{}
	case f.Type.IsCounted():
		l.fail(n, "field %s of type %s cannot have a length; it has its own in front of it", quote(f.Name), f.Type)
		return Size{}
	default:
		l.fail(n, "field %s of type %s cannot have a length, since its size is fixed; use count for an array", quote(f.Name), f.Type)
		return Size{}
	}
	size, found := l.size(n, f, "length", text)
	if found {
		return size
	}
	problem := fmt.Sprintf("length of field %s names %s, which is no earlier field", quote(f.Name), quote(text))
	if f.Type == Binary {
		return l.withoutLength(n, f, problem, absentRemedy)
	}
	l.lose(n, problem, absentRemedy)
	return Size{}
}

// withoutLength settles the length of a binary field that has lost it in a
// dump: one at the end takes the rest.
func (l *layout) withoutLength(n *node, f *Field, problem, remedy string) Size {
	if !l.opts.Lenient || !l.top || n != l.last || f.Count.Kind != NoSize {
		l.lose(n, problem, remedy)
		return Size{}
	}
	l.warn(n, "%s: it takes the rest of the payload", problem)
	return Size{Kind: RestSize}
}

// size reads a count or a length: a constant, or the name of an earlier field,
// here or around the struct that this is in. It reports whether there is such a
// field.
func (l *layout) size(n *node, f *Field, attr, text string) (size Size, found bool) {
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		if v, ok := parseNumber(text, 64); ok || strings.Trim(text, "0123456789") == "" {
			if !ok || v == 0 || v > 0xffff {
				l.fail(n, "%s %s of field %s is not from 1 to 65535; write the name of a field for a number that varies", attr, text, quote(f.Name))
			}
			return Size{Kind: ConstSize, Const: uint16(v)}, true
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
			return Size{Kind: FieldSize, Field: target, Up: up}, true
		}
		if s.later[text] {
			l.fail(n, "%s of field %s names %s, which is not in front of it; move it there", attr, quote(f.Name), quote(text))
			return Size{}, true
		}
		up++
	}
	return Size{}, false
}

// checkTarget checks that a field can be the count or the length of another.
func (l *layout) checkTarget(n *node, f *Field, attr string, target *Field) {
	switch {
	case target.Type == NoType: // reported already
	case target.Count.Kind != NoSize:
		l.fail(n, "%s of field %s names %s, which is an array; take a single integer", attr, quote(f.Name), quote(target.Name))
	case !target.Type.CanCount():
		l.fail(n, "%s of field %s names %s of type %s; take one of type win:UInt8, win:UInt16 or win:UInt32", attr, quote(f.Name), quote(target.Name), target.Type)
	}
}

// bareName returns a name without what dumps drop from the names of fields, but
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
