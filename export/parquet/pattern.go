package parquet

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// shortKeys are names for the keys that have columns.
var shortKeys = map[string]string{"service": KeyService, "version": KeyVersion, "host": KeyHost, "container": KeyContainer, "pod": KeyPod}

// KeyOf returns the key that a short name stands for, such as service, or the name itself.
func KeyOf(name string) string {
	if key, ok := shortKeys[name]; ok {
		return key
	}
	return name
}

// A Pattern finds in the path of a trace whose recording it is.
type Pattern struct {
	text string
	expr *regexp.Regexp
	keys []string // of the groups of expr
}

// ParsePattern reads a pattern such as traces/{service}/{version}/{host}/*: names in braces are
// keys, and a star is any text. Both end at a slash. A path may have more in front.
func ParsePattern(text string) (*Pattern, error) {
	p := &Pattern{text: text}
	expr, rest := "(?:^|/)", filepath.ToSlash(text)
	for rest != "" {
		i := strings.IndexAny(rest, "{*")
		if i < 0 {
			i = len(rest)
		}
		expr += regexp.QuoteMeta(rest[:i])
		rest = rest[i:]
		switch {
		case strings.HasPrefix(rest, "*"):
			expr, rest = expr+"[^/]*", rest[1:]
		case rest != "":
			name, after, ok := strings.Cut(rest[1:], "}")
			if !ok || name == "" || strings.ContainsAny(name, "{*/") {
				return nil, fmt.Errorf("%s: %s is no name in braces", text, rest)
			}
			p.keys = append(p.keys, KeyOf(name))
			expr, rest = expr+"([^/]*?)", after
		}
	}
	if len(p.keys) == 0 {
		return nil, fmt.Errorf("%s: it has no name in braces, such as traces/{service}/{version}/{host}/*", text)
	}
	var err error
	p.expr, err = regexp.Compile(expr + "$")
	return p, err
}

// Match returns the labels in the path of a trace, and false if it is no such path.
func (p *Pattern) Match(path string) (Resource, bool) {
	found := p.expr.FindStringSubmatch(filepath.ToSlash(path))
	if found == nil {
		return nil, false
	}
	r := make(Resource)
	for i, key := range p.keys {
		r[key] = found[i+1]
	}
	return r, true
}

// String returns the pattern as it was read.
func (p *Pattern) String() string { return p.text }

// ParseResource reads the value of the variable OTEL_RESOURCE_ATTRIBUTES: KEY=VALUE with commas
// between them, in which percent signs and numbers stand for characters.
func ParseResource(text string) (Resource, error) {
	r := make(Resource)
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key, errKey := url.PathUnescape(strings.TrimSpace(key))
		value, errValue := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || errKey != nil || errValue != nil {
			return nil, fmt.Errorf("%q is no KEY=VALUE", pair)
		}
		r[key] = value
	}
	return r, nil
}
