package gc

import (
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/generated/clr"
)

// mb turns bytes into MB.
// Sizes that cannot be are the largest that can.
func mb(bytes uint64) measure.Float { return measure.Known(float64(min(bytes, measure.Most)) / 1e6) }

// cpuMS turns units of 100 ns into milliseconds.
func cpuMS(units int64) measure.Float { return measure.Known(float64(units) / 1e4) }

// The kinds of roots, as GCMarkWithType numbers them.
const (
	rootStack clr.GCRootKind = iota
	rootFinalizeQueue
	rootHandles
	rootOlder
)

// rootNames has the kinds of roots that marks are of. The runtime's own map, which
// is of heap dumps, has the first six.
var rootNames = [...]string{"Stack", "FinalizeQueue", "Handles", "OlderGeneration", "SizedRefs", "Overflow",
	"DependentHandles", "NewFinalizeQueue", "Steal", "BackgroundRoots"}
