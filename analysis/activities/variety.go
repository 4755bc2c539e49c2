package activities

import (
	"github.com/etwgen/etwgen/analysis/internal/actid"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A variety is the kind of an activity: its source and its task.
type variety struct{ provider, task string }

// varietyOf returns that of a start or a stop.
func varietyOf(r *etw.Record) variety { return variety{r.ProviderName, actid.TaskName(r.Schema)} }
