package stress

import "github.com/etwgen/etwgen/generated/internal/keywords"

// ParseKeywords returns the mask of a list of keywords. It is to this provider,
// whose only keyword is Stack, what ParseKeywords of package clr is to the
// runtime's.
func ParseKeywords(list string) (Keyword, error) {
	return keywords.Parse[Keyword](Provider, nil, list)
}
