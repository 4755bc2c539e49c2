package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/etwgen/etwgen/internal/each"
)

// An Error is one thing that is wrong with a manifest, or doubtful about it.
type Error struct {
	Pos Pos
	Msg string // what it is and what to do, in lower case

	rule string // what errors of one kind have in common: the format of Msg
	more int    // how many further places have the same cause
}

// Error returns the diagnostic as file:line:col: message.
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }

// An ErrorList is all that was found in a file, in the order of the file.
type ErrorList []*Error

// Error returns the first error, and how many more there are.
func (l ErrorList) Error() string {
	switch len(l) {
	case 0:
		return "no errors"
	case 1:
		return l[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", l[0], len(l)-1)
}

// Unwrap gives errors.Is and errors.As access to the single errors.
func (l ErrorList) Unwrap() []error { return each.Of(l, func(e *Error) error { return e }) }

// Sort sorts l by position, and by message where positions are equal.
func (l ErrorList) Sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(a.Pos.compare(b.Pos), cmp.Compare(a.Msg, b.Msg))
	})
}

// Fold returns l with at most n errors of each kind, such as references to tasks
// that are not declared. The last one of a kind says how many it stands for. It
// is for a file that breaks one rule a thousand times.
func (l ErrorList) Fold(n int) ErrorList {
	count := make(map[string]int)
	for _, e := range l {
		count[e.rule]++
	}
	var folded ErrorList
	seen := make(map[string]int)
	for _, e := range l {
		seen[e.rule]++
		switch more := count[e.rule] - n; {
		case e.rule == "" || more <= 0 || seen[e.rule] < n:
			folded = append(folded, e)
		case seen[e.rule] == n:
			last := *e
			last.Msg += fmt.Sprintf(" (%d more like this)", more)
			folded = append(folded, &last)
		}
	}
	return folded
}

// err returns l as an error, nil if it is empty.
func (l ErrorList) err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}

// quoteLimit bounds the text of a manifest in a message, so that the messages
// about a file cannot outgrow it.
const quoteLimit = 64

// quote returns s in quotes, cut if it is long.
func quote(s string) string {
	if len(s) > quoteLimit {
		// A rune that is cut in two prints as an escape, which is fine here.
		return strconv.Quote(s[:quoteLimit]) + "..."
	}
	return strconv.Quote(s)
}

// trim bounds a name that a message shows without quotes.
func trim(s string) string {
	if len(s) > quoteLimit {
		return s[:quoteLimit] + "..."
	}
	return s
}
