package ask

import (
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/trace"
)

// A parted result has shares of the time of the session, or of the part of it that was asked for.
type parted interface{ Part(from, to time.Duration) }

// A recorded result has shares of the time in which one process recorded itself.
type recorded interface{ Recorded(time.Duration) }

// sayPart tells a result of the part that was asked for, if one was, and of one process that
// recorded itself how long it did.
func sayPart(result any, span *pick.TimeSpan, h *filter.Header, t *trace.Trace) {
	from, to, isSaid := span.Part(h, t)
	if res, ok := result.(parted); ok && isSaid {
		res.Part(from, to)
	}
	if res, ok := result.(recorded); ok && h.During == nil {
		if took, one := span.Recorded(h, t); one {
			res.Recorded(took)
		}
	}
}
