// Package gen turns an instrumentation manifest into a Go package: a struct for each
// event, with a decoder and an encoder that know its layout, and descriptions that the
// runtime renders events by. Use it for programs that generate; at a prompt, and in
// lines of go:generate, there is the command etwgen.
//
//	m, _, err := manifest.ParseFile("shop.man", manifest.Options{})
//	if err != nil {
//		return err
//	}
//	files, err := gen.Generate(m, gen.Options{Package: "shop"})
//	if err != nil {
//		return err
//	}
//	for _, f := range files {
//		fmt.Println(f.Name, len(f.Content))
//	}
//
// Nothing here touches a file system: the caller writes the files.
package gen

// First build makes the model, in which every node of the manifest has its Go
// name and its kind. Then the files emit_*.go write the package from the model
// alone.

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/etwgen/etwgen/manifest"
)

// Generate returns the files of the package for a provider of m, sorted by name.
// The error is a manifest.ErrorList where the fault lies in the manifest.
func Generate(m *manifest.Manifest, opts Options) ([]File, error) {
	if !token.IsIdentifier(opts.Package) || opts.Package == "_" {
		return nil, fmt.Errorf("%q is not a valid Go package name", opts.Package)
	}
	p, err := Select(m, opts.Provider)
	if err != nil {
		return nil, err
	}
	pk, err := build(m, p, opts)
	if err != nil {
		return nil, err
	}
	return pk.emit(opts)
}

// Select returns the provider of m with the given name in any case, symbol, GUID or
// number, or the only one with events if name is empty.
func Select(m *manifest.Manifest, name string) (*manifest.Provider, error) {
	var found []*manifest.Provider
	for i, p := range m.Providers {
		switch {
		case name == "" && (len(p.Events) > 0 || len(m.Providers) == 1),
			name != "" && (strings.EqualFold(p.Name, name) || p.Symbol == name || sameGUID(p.GUID.String(), name)),
			name == fmt.Sprintf("#%d", i+1):
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var list strings.Builder
	for i, p := range m.Providers {
		fmt.Fprintf(&list, "\n\t#%d %s %s", i+1, p.GUID, p.Name)
	}
	switch {
	case len(m.Providers) == 0:
		return nil, fmt.Errorf("%s: no provider", m.File)
	case len(found) == 0 && name != "":
		return nil, fmt.Errorf("%s: no provider %s; there are:%s", m.File, name, list.String())
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no provider has events; choose one with --provider:%s", m.File, list.String())
	}
	return nil, fmt.Errorf("%s: several providers; choose one with --provider, by name, GUID or number:%s", m.File, list.String())
}

func sameGUID(a, b string) bool {
	return strings.EqualFold(strings.Trim(a, "{}"), strings.Trim(b, "{}"))
}
