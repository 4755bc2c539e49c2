// Package builtin has the providers that the trace tool knows without a manifest.
package builtin

import (
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Provider is one with a generated package.
type Provider struct {
	Alias string // a short name for command lines
	*etw.Provider
	ParseKeywords func(list string) (uint64, error) // in every spelling that people know
}

// Providers are those with a generated package.
var Providers = []Provider{
	{"clr", clr.Provider, clr.ParseKeywords},
	{"rundown", rundown.Provider, rundown.ParseKeywords},
	{"private", private.Provider, private.ParseKeywords},
	{"stress", stress.Provider, stress.ParseKeywords},
	{"kernel", kernel.Provider, kernel.ParseKeywords},
}

// NewDecoder returns a decoder that knows the built-in providers and more, those
// of manifests.
func NewDecoder(more ...*etw.Provider) *etw.Decoder {
	var all []*etw.Provider
	for _, p := range Providers {
		all = append(all, p.Provider)
	}
	d := etw.NewDecoder(append(all, more...)...)
	d.Names = classic.Names
	return d
}

// IsKernel reports whether r is a classic event of the kernel, or of what the
// kernel logs with its events.
func IsKernel(r *etw.Record) bool {
	return r.Kind == etw.KindClassic && classic.ClassName(r.Provider) != ""
}
