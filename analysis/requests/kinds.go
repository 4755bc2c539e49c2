package requests

import (
	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/stacks"
)

// Kinds returns a function that tells the kind of a [Part] once all is read: stacks may say that a thread
// slept.
func (a *Analysis) Kinds() func(kind string, code stacks.ID) string {
	at := a.spots()
	return func(kind string, code stacks.ID) string {
		x, runs := at[code], kind == activities.Running.String()
		if runs && x.Waits || kind == activities.Ready.String() && x.Asleep() {
			return activities.Blocked.String()
		}
		if x.Untold && runs {
			return activities.Untold.String()
		}
		return kind
	}
}
