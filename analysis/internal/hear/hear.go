// Package hear registers handlers of events which cannot fail, as those of analyses.
package hear

import "github.com/etwgen/etwgen/runtime/etw"

// On registers fn at a mux for the events of a type, as [etw.Handle] does. Inlined, it would be
// compiled for each of them.
//
//go:noinline
func On[P etw.Described](mux *etw.Mux, fn func(*etw.Record, P)) {
	etw.Handle(mux, func(r *etw.Record, e P) error {
		fn(r, e)
		return nil
	})
}
