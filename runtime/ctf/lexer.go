package ctf

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// A token is a word of the metadata: a name, a number, a text in quotes, or signs.
type token struct {
	kind byte // 'n', '0', '"', 's', or 0 at the end
	text string
	at   int
}

// A lexer finds the tokens of a text.
type lexer struct {
	src []byte
	at  int
}

// signs are those of more than one character, the longest first.
var signs = []string{"...", ":=", "->"}

func isName(c byte, first bool) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || !first && c >= '0' && c <= '9'
}

// skip skips blanks and comments.
func (l *lexer) skip() error {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch {
		case rest[0] <= ' ':
			l.at++
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return fmt.Errorf("the comment at byte %d has no end", l.at)
			}
			l.at += n + 4
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		default:
			return nil
		}
	}
	return nil
}

// next returns the next token.
func (l *lexer) next() (t token, err error) {
	if err := l.skip(); err != nil || l.at == len(l.src) {
		return token{at: l.at}, err
	}
	t.at = l.at
	switch c := l.src[l.at]; {
	case isName(c, true):
		t.kind, t.text = 'n', l.while()
	case c >= '0' && c <= '9':
		t.kind, t.text = '0', l.while()
	case c == '"':
		t.kind = '"'
		t.text, err = l.quoted()
	default:
		t.kind, t.text = 's', string(c)
		for _, s := range signs {
			if bytes.HasPrefix(l.src[l.at:], []byte(s)) {
				t.text = s
				break
			}
		}
		l.at += len(t.text)
	}
	return t, err
}

// while takes letters and digits.
func (l *lexer) while() string {
	from := l.at
	for l.at < len(l.src) && isName(l.src[l.at], false) {
		l.at++
	}
	return string(l.src[from:l.at])
}

// quoted takes a text in quotes, with the escapes of C.
func (l *lexer) quoted() (string, error) {
	for end := l.at + 1; end < len(l.src); end++ {
		switch l.src[end] {
		case '\\':
			end++
		case '"':
			raw := string(l.src[l.at : end+1])
			l.at = end + 1
			if text, err := strconv.Unquote(raw); err == nil {
				return text, nil
			}
			return strings.Trim(raw, `"`), nil
		}
	}
	return "", fmt.Errorf("the text at byte %d has no end", l.at)
}
