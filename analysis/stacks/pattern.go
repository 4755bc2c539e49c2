package stacks

import (
	"fmt"
	"regexp"
	"strings"
)

// A pattern matches names of frames, in the language of PerfView: * is any text, %
// any part of a name, ^ the start, | or, {} what a group's name can refer to; the
// rest is meant literally. After @ comes a regular expression.
type pattern struct{ re *regexp.Regexp }

var specials = strings.NewReplacer(`*`, `.*`, `%`, `[.\w\d?]*`, `^`, `^`, `|`, `|`, `{`, `(`, `}`, `)`)

func parsePattern(text string) (pattern, error) {
	expr, ok := strings.CutPrefix(text, "@")
	if !ok {
		var b strings.Builder
		for _, c := range text {
			if strings.ContainsRune(`*%^|{}`, c) {
				b.WriteString(specials.Replace(string(c)))
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
		for _, p := range list {
			if p.match(f) {
				return true
			}
		}
		return false
	}, nil
}

// A group gives frames a common name.
type group struct {
	pattern
	name  string
	entry bool // the first frame of the group is part of the name
}

// parseGroups reads a list of pattern->name and pattern=>name that ; separates, with
// comments in brackets.
func parseGroups(list string) ([]group, error) {
	var all []group
	for text := range strings.SplitSeq(list, ";") {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") {
			if i := strings.IndexByte(text, ']'); i >= 0 {
				text = strings.TrimSpace(text[i+1:])
			}
		}
		if text == "" {
			continue
		}
		i, entry := strings.LastIndex(text, "->"), false
		if k := strings.LastIndex(text, "=>"); k > i {
			i, entry = k, true
		}
		if i < 0 {
			return nil, fmt.Errorf("group %q: there is neither -> nor => with the name of the group", text)
		}
		p, err := parsePattern(strings.TrimSpace(text[:i]))
		if err != nil {
			return nil, err
		}
		all = append(all, group{p, strings.TrimSpace(text[i+2:]), entry})
	}
	return all, nil
}

// expand returns the name of the group for a frame, if it is in it.
func (g *group) expand(f *Frame) (string, bool) {
	m := g.re.FindStringSubmatchIndex(f.Full)
	if m == nil {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(g.name); i++ {
		if g.name[i] == '$' && i+1 < len(g.name) && g.name[i+1] >= '0' && g.name[i+1] <= '9' {
			k := 2 * int(g.name[i+1]-'0')
			if k+1 < len(m) && m[k] >= 0 {
				b.WriteString(f.Full[m[k]:m[k+1]])
			}
			i++
			continue
		}
		b.WriteByte(g.name[i])
	}
	return b.String(), true
}
