package manifest

import (
	"strconv"
	"strings"
)

// parseNumber reads a decimal number, or a hexadecimal one with 0x.
func parseNumber(s string, bits int) (uint64, bool) {
	base := 10
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		s, base = hex, 16
	} else if hex, ok := strings.CutPrefix(s, "0X"); ok {
		s, base = hex, 16
	}
	v, err := strconv.ParseUint(s, base, bits)
	if err != nil {
		return 0, false
	}
	return v, true
}

// number reads a required attribute with a number of so many bits. The parameter what names
// the element in messages.
func (p *parser) number(n *node, attr, what string, bits int) uint64 {
	s, ok := n.lookup(attr)
	if !ok {
		p.fail(n, "%s has no %s attribute; add one", what, attr)
		return 0
	}
	return p.parse(n, s, attr, what, bits)
}

// optional is number for an attribute that is 0 where it is absent.
func (p *parser) optional(n *node, attr, what string, bits int) uint64 {
	s, ok := n.lookup(attr)
	if !ok || s == "" {
		return 0
	}
	return p.parse(n, s, attr, what, bits)
}

func (p *parser) parse(n *node, s, attr, what string, bits int) uint64 {
	v, ok := parseNumber(s, bits)
	if !ok {
		p.fail(n, "%s %s of %s is not a number from 0 to %d", attr, quote(s), what, uint64(1)<<bits-1)
	}
	return v
}

// hasNumber reports whether an attribute has a number of so many bits.
func (n *node) hasNumber(attr string, bits int) bool {
	_, ok := parseNumber(n.attr(attr), bits)
	return ok
}

// plural returns a number with a noun, such as "3 fields".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
