// Package suspend tells apart why the runtime stops all threads.
package suspend

import "github.com/etwgen/etwgen/generated/clr"

// ForGC reports whether a suspension is part of the pause of a collection.
func ForGC(reason clr.GCSuspendEEReason) bool {
	return reason == clr.GCSuspendEEReasonSuspendForGC || reason == clr.GCSuspendEEReasonSuspendForGCPrep
}
