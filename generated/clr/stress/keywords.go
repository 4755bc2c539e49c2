package stress

import "github.com/etwgen/etwgen/generated/internal/keywords"

// ParseKeywords returns the mask of a list of keywords. It does the same for this provider,
// whose only keyword is Stack, as ParseKeywords of package clr for the runtime's.
func ParseKeywords(list string) (Keyword, error) {
	return keywords.Parse[Keyword](Provider, nil, list)
}
