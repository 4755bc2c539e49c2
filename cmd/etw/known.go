package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// findProviders returns the known providers that a name, a pattern, a GUID or an
// alias means.
func findProviders(name string, manifests []*etw.Provider) []*etw.Provider {
	want, err := filter.ParseProvider(name)
	if err != nil {
		return nil
	}
	var list []*etw.Provider
	for _, p := range append(builtinProviders(), manifests...) {
		if want.Match(p.Desc.Name, p.Desc.GUID) {
			list = append(list, p)
		}
	}
	return append(list, builtin.Sources(want.Match, manifests)...)
}

// parseKeywords returns the mask of a list of masks and names of keywords.
func parseKeywords(list []string, providers []*etw.Provider) (uint64, error) {
	var mask uint64
	for _, text := range list {
		text = strings.TrimSpace(text)
		if m, err := strconv.ParseUint(text, 0, 64); err == nil {
			mask |= m
			continue
		}
		m, ok := keywordMask(text, providers)
		if !ok {
			return 0, fmt.Errorf("%q is neither a mask such as 0x8000 nor a keyword%s%s%s", text, ofProvider(providers), didYouMean(text, keywordsOf(providers)), isProvider(text))
		}
		mask |= m
	}
	return mask, nil
}

// keywordSuffix ends the names of most keywords, and may be left out.
const keywordSuffix = "Keyword"
