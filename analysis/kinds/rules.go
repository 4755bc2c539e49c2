// Package kinds tells the kind of work of the samples of a profile: collecting garbage,
// compiling, loading types, allocating, waiting, user code. Use it to know at a glance
// whether time goes to the program or to its runtime.
//
// A table of rules says it of the methods of the runtime and of the libraries of .NET, and
// the rest stays unknown. The table is text, which [Text] returns, and programs can put
// lines of their own before it.
package kinds

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
)

// A Kind is a kind of work.
type Kind struct {
	Name  string `json:"kind"`  // a word, such as gc
	Title string `json:"title"` // what it is, for people
}

// The kinds that need no rule.
const (
	Unknown = "unknown" // nothing tells what it is
	User    = "user"    // managed code that no rule knows
	Interop = "interop" // native code that no rule knows, called by managed code
	Native  = "native"  // native code that no rule knows, of a program that is native
	caller  = "caller"  // of whoever called it
)

// A reach says how much of a frame's callees a rule covers.
type reach uint8

const (
	itself   reach = iota // it, and native code that no rule knows
	onNative              // all native code, too
	onAll                 // managed code, too
	ifAlone               // it, unless native code that a rule knows called it
	tagged                // all code, whatever other rules say but those of tags
)

var reaches = []struct {
	mark string
	reach
}{{">>", onAll}, {">", onNative}, {"<", ifAlone}}

// A rule gives the kind of work of the frames that it matches.
type rule struct {
	module, method string // patterns, the first in lower case
	kind           int
	reach          reach
	text           string // the line, "" of a tag
}

// Rules are a table of rules. They do not change.
type Rules struct {
	kinds []Kind
	list  []rule
	added int // how many of the list are not built in: those come first
}

//go:embed kinds.txt
var builtin string

// Text returns the table that is built in, in the form that [Rules.Add] reads.
func Text() string { return builtin }

// Default returns the rules of the table that is built in.
func Default() *Rules {
	r := &Rules{kinds: []Kind{{Unknown, "unknown"}, {User, "user code"}, {Interop, ""}, {Native, "native code, otherwise"}, {caller, ""}}}
	r, err := r.Add(strings.NewReader(builtin))
	if err != nil {
		panic(err) // of a table of ours, which tests read
	}
	r.added = 0
	return r
}

// Kinds returns all kinds, in the order in which the table has them first.
func (r *Rules) Kinds() []Kind {
	return order.Delete(slices.Clone(r.kinds), func(k Kind) bool { return k.Name == caller })
}

// Add returns rules that ask a table before those that r has: one in the form of [Text], or the
// XML of a file of stack tags. An error begins with the number of the line.
func (r *Rules) Add(table io.Reader) (*Rules, error) {
	q := &Rules{kinds: slices.Clone(r.kinds)}
	in := bufio.NewReader(table)
	if head, _ := in.Peek(5); isXML(bytes.TrimPrefix(head, []byte("\ufeff"))) {
		if err := q.addTags(in); err != nil {
			return nil, err
		}
		return q.before(r), nil
	}
	s := bufio.NewScanner(in)
	kind, line := -1, 0
	for s.Scan() {
		line++
		text := strings.TrimSpace(strings.TrimPrefix(s.Text(), "\ufeff"))
		var err error
		switch {
		case text == "" || text[0] == '#':
		case text[0] == '[' && !strings.Contains(text, "]!"):
			kind, err = q.section(text)
		case kind < 0:
			err = fmt.Errorf("%q is in no section: a line such as [gc] comes first, with the kind", text)
		default:
			err = q.rule(text, kind)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d has more than %d bytes: this is no table of rules", line+1, bufio.MaxScanTokenSize)
	} else if err != nil {
		return nil, fmt.Errorf("line %d: %w", line+1, err)
	}
	return q.before(r), nil
}

// before puts the rules of r behind those of q.
func (q *Rules) before(r *Rules) *Rules {
	q.added = len(q.list) + r.added
	q.list = append(q.list, r.list...)
	return q
}

// section reads the line that begins the lines of a kind, which may be a new one.
func (r *Rules) section(text string) (int, error) {
	name, title, ok := strings.Cut(text[1:], "]")
	if title = strings.TrimSpace(title); !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return 0, fmt.Errorf("%q is not the name of a kind in brackets, such as [gc], in small letters, digits and -", text)
	}
	i := slices.IndexFunc(r.kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		i = len(r.kinds)
		r.kinds = append(r.kinds, Kind{Name: name, Title: name})
	}
	if title != "" {
		r.kinds[i].Title = title
	}
	return i, nil
}

func (r *Rules) rule(text string, kind int) error {
	x := rule{kind: kind, text: text}
	for _, m := range reaches {
		if rest, ok := strings.CutPrefix(text, m.mark); ok {
			text, x.reach = strings.TrimSpace(rest), m.reach
			break
		}
	}
	module, method, ok := strings.Cut(text, "!")
	if method = strings.TrimSpace(method); !ok || method == "" {
		return fmt.Errorf("%q is not MODULE!METHOD, in which * is any text", text)
	}
	if module = strings.TrimSpace(module); module != "" && strings.ContainsRune(signs, rune(module[0])) {
		return fmt.Errorf("%q begins with signs that mean nothing: before a rule stands >>, >, < or nothing", x.text)
	}
	x.module, x.method = strings.ToLower(module), method
	r.list = append(r.list, x)
	return nil
}

// signs are characters that begin no module, so that it was meant as a mark.
const signs = "<>=+-~^&|"

// matches reports whether a text is as a pattern says, in which * is any text.
func matches(pattern, text string) bool {
	before, rest, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == text
	}
	if !strings.HasPrefix(text, before) {
		return false
	}
	text = text[len(before):]
	for {
		part, next, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], next
	}
}
