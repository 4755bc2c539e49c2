package cli

import (
	"strings"

	"github.com/etwgen/etwgen/internal/edit"
)

// DidYouMean returns a question for the name that is most like a wrong one, or ""
// if none is.
//
//go:noinline
func DidYouMean(wrong string, names []string) string {
	if best := nearest(wrong, names); best != "" {
		return " (did you mean " + best + "?)"
	}
	return ""
}

// nearest returns the name that is most like a wrong one, or "" if none is.
func nearest(wrong string, names []string) string {
	lower := strings.ToLower(wrong)
	best, least := "", max(2, len(wrong)/3)+1
	for _, name := range names {
		if d := edit.Distance(lower, strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" {
		return best
	}
	for _, name := range names {
		if n := strings.ToLower(name); len(lower) > 2 && strings.Contains(n, lower) {
			return name
		}
	}
	return ""
}
