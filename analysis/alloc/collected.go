package alloc

import (
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
)

// alike is the share by which ticks may differ from the bytes that collections found.
const alike = 0.1

// Compare has ticks say how much collections of the same trace found, where the two are not alike.
// Ticks of runtimes before .NET 5 count some objects for more than they are, which shows where
// collections tell of all that was allocated; and ticks can be lost, so that collections find more.
func (r *Result) Compare(with *gc.Result) {
	for _, rt := range r.Runtimes {
		for _, c := range with.Runtimes {
			if rt.Ticks == nil || c.PID != rt.PID || c.CLRInstance != rt.CLRInstance || c.Life != rt.Life {
				continue
			}
			found := c.AllocatedMB.Or(0)
			after, whole := c.TickedAfterMB.Get() // since the last collection, by ticks
			whole = whole || c.AllocatedBy == "collections and ticks"
			more := float64(rt.Ticks.Bytes)/1e6 - found
			if more-after > alike*found && whole || -more > alike*found && c.AllocatedBy != "ticks" {
				rt.Ticks.CollectedMB = measure.Known(found)
			}
		}
	}
}
