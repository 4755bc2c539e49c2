package symbols

import (
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/runtime/etw"
)

// unixOfZero is time 0 of a clock that starts at time 0.
var unixOfZero = when.Of(&etw.Record{Clock: &etw.Clock{Frequency: 1e9}})
