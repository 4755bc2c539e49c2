package stacks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A pattern matches names of frames, in the language of PerfView: * is any text, % any part
// of a name, ^ the start, | or, {} a part that a group's name can refer to; the rest is
// meant literally, but for \ and /, which are the same. After @ comes a regular expression.
type pattern struct{ re *regexp.Regexp }

// specials are the characters that are not literal. A part of a name has letters and digits
// of all scripts, which \w does not say in Go.
var specials = map[rune]string{
	'*': `.*`, '%': `[.\p{L}\p{Mn}\p{Nd}\p{Pc}?]*`, '^': `^`, '|': `|`, '{': `(`, '}': `)`,
	'\\': `[\\/]`, '/': `[\\/]`,
}

func parsePattern(text string) (pattern, error) {
	expr, ok := strings.CutPrefix(text, "@")
	if !ok {
		var b strings.Builder
		for _, c := range text {
			if special, ok := specials[c]; ok {
				b.WriteString(special)
			} else {
				b.WriteString(regexp.QuoteMeta(string(c)))
			}
		}
		expr = b.String()
	}
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return pattern{}, fmt.Errorf("pattern %q: %w", text, err)
	}
	return pattern{re}, nil
}

// parsePatterns reads a list that ; separates.
func parsePatterns(list string) ([]pattern, error) {
	var all []pattern
	for text := range strings.SplitSeq(list, ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// match reports whether a frame has a name that the pattern matches.
func (p pattern) match(f *Frame) bool {
	return p.re.MatchString(f.Full) || f.Name != f.Full && p.re.MatchString(f.Name)
}

// Match returns a function that reports whether any pattern of a list matches a
// frame.
func Match(patterns string) (func(*Frame) bool, error) {
	list, err := parsePatterns(patterns)
	if err != nil {
		return nil, err
	}
	return func(f *Frame) bool {
		return slices.ContainsFunc(list, func(p pattern) bool { return p.match(f) })
	}, nil
}

// A group gives frames a common name.
type group struct {
	pattern
	name  string // "" leaves a frame as it is
	entry bool   // the first frame of the group is part of the name
	// module says that the pattern is that of [group module entries], which takes the text
	// before the first !.
	module bool
}

// parseGroups reads a list of pattern->name and pattern=>name that ; separates, with a comment
// in brackets before the first.
func parseGroups(list string) ([]group, error) {
	_, list = cutComment(list)
	var all []group
	for text := range strings.SplitSeq(list, ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		g := group{name: "$&", module: text == moduleEntries}
		match, name, ok := strings.Cut(text, "=>")
		if g.entry = ok; !ok {
			match, name, ok = strings.Cut(text, "->")
		}
		if ok {
			g.name = strings.TrimSpace(name)
		}
		var err error
		if g.pattern, err = parsePattern(strings.TrimSpace(match)); err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// cutComment returns the comment in brackets that a text begins with, and the rest.
func cutComment(text string) (comment, rest string) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if comment, rest, ok := strings.Cut(inner, "]"); ok {
			return comment, strings.TrimSpace(rest)
		}
	}
	return "", text
}

// expand returns the name of the group for a name, if that is in it.
func (g *group) expand(text string) (string, bool) {
	if g.module {
		before, _, ok := strings.Cut(text, "!")
		return "module " + before[strings.LastIndexFunc(before, isNotOfModule)+1:], ok
	}
	m := g.re.FindStringSubmatchIndex(text)
	if m == nil {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(g.name); i++ {
		k := -1 // the capture that is meant
		if g.name[i] == '$' && i+1 < len(g.name) {
			switch c := g.name[i+1]; {
			case c == '&':
				k = 0
			case c >= '0' && c <= '9':
				k = 2 * int(c-'0')
			}
		}
		if k < 0 || k >= len(m) {
			b.WriteByte(g.name[i])
			continue
		}
		if m[k] >= 0 {
			b.WriteString(text[m[k]:m[k+1]])
		}
		i++
	}
	return b.String(), true
}
