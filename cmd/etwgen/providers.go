package main

import (
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/manifest"
)

// providerName returns a provider's name as package gen expects it: numbers are
// written as #1.
func providerName(flag string) string {
	if flag != "" && strings.Trim(flag, "0123456789") == "" {
		return "#" + flag
	}
	return flag
}

// packageNames names packages for providers: by the letters and digits of their names, without
// the words with which all begin.
func packageNames(providers []*manifest.Provider) []string {
	words := make([][]string, len(providers))
	for i, p := range providers {
		words[i] = strings.FieldsFunc(strings.ToLower(p.Name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	}
	common := 0
	for len(words) > 0 && !slices.ContainsFunc(words, func(w []string) bool { return common+1 >= len(w) || w[common] != words[0][common] }) {
		common++
	}
	taken := make(map[string]bool)
	var names []string
	for i, w := range words {
		name := strings.Join(w[common:], "")
		if !token.IsIdentifier(name) || taken[name] {
			name = "provider" + strconv.Itoa(i+1)
		}
		taken[name] = true
		names = append(names, name)
	}
	return names
}
