package pick

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// FindProviders returns the known providers that a name, a pattern, a GUID or an
// alias means.
func FindProviders(name string, manifests []*etw.Provider) []*etw.Provider {
	want, err := filter.ParseProvider(name)
	if err != nil {
		return nil
	}
	var list []*etw.Provider
	for _, p := range append(BuiltinProviders(), manifests...) {
		if want.Match(p.Desc.Name, p.Desc.GUID) {
			list = append(list, p)
		}
	}
	return append(list, builtin.Sources(want.Match, manifests)...)
}

// ParseKeywords returns the mask of a list of masks and names of keywords.
func ParseKeywords(list []string, providers []*etw.Provider) (uint64, error) {
	var mask uint64
	for _, text := range list {
		text = strings.TrimSpace(text)
		if m, err := strconv.ParseUint(text, 0, 64); err == nil {
			mask |= m
			continue
		}
		m, ok := keywordMask(text, providers)
		if !ok {
			return 0, fmt.Errorf("%q is neither a mask such as 0x8000 nor a keyword%s%s%s", text, ofProvider(providers), cli.DidYouMean(text, keywordsOf(providers)), isProvider(text))
		}
		mask |= m
	}
	return mask, nil
}

// KeywordSuffix ends the names of most keywords, and may be left out.
const KeywordSuffix = "Keyword"

// isProvider says how to name a provider, if text is the name of one.
func isProvider(text string) string {
	for _, b := range builtin.Providers {
		if strings.EqualFold(text, b.Alias) || strings.EqualFold(text, b.Desc.Name) {
			return "; it is a provider: --provider " + b.Alias
		}
	}
	return ""
}

// keywordMask returns the mask of a keyword that one of the providers has, in any
// of the spellings that the built-in ones know.
func keywordMask(name string, providers []*etw.Provider) (mask uint64, ok bool) {
	lower := strings.ToLower(name)
	for _, p := range providers {
		for _, k := range p.Keywords {
			if full := strings.ToLower(k.Name); lower == full || lower == strings.TrimSuffix(full, strings.ToLower(KeywordSuffix)) {
				return k.Mask, true
			}
		}
		for _, b := range builtin.Providers {
			if b.Provider != p {
				continue
			}
			if m, err := b.ParseKeywords(name); err == nil {
				return m, true
			}
		}
	}
	return 0, false
}

// keywordsOf returns the names of the keywords of providers, without their common end.
func keywordsOf(providers []*etw.Provider) []string {
	var names []string
	for _, p := range providers {
		for _, k := range p.Keywords {
			names = append(names, strings.TrimSuffix(k.Name, KeywordSuffix))
		}
	}
	return names
}

func ofProvider(providers []*etw.Provider) string {
	if len(providers) != 1 {
		return ""
	}
	return " of " + providers[0].Desc.Name
}
