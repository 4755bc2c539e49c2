package findings

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A Stay is a thread that waited in one place in all of its samples: for a lock, or as a worker of the
// thread pool.
type Stay struct {
	Thread     int64
	Method     string // that called those of the runtime in which it waits
	MS         float64
	Lock, Pool bool
}

// Stuck says which threads waited all the time that their process was sampled.
func Stuck(list []Stay) []Finding {
	f := &finder{part: "stacks"}
	list = order.Delete(slices.Clone(list), func(s Stay) bool { return s.MS < longLocked })
	locks := order.Delete(slices.Clone(list), func(s Stay) bool { return !s.Lock })
	f.stuck("stacks.waitedForLock", locks, "%s for a lock in all samples of %s: %s. If no event tells of these waits, they began before the recording.")
	workers := order.Delete(list, func(s Stay) bool { return s.Lock || !s.Pool })
	if len(workers) > 1 {
		f.stuck("stacks.workersWaited", workers, "%s as workers of the thread pool in all samples of %s: %s. Until they go on, they take no other work.")
	}
	return f.list
}

// stuck adds where threads waited, some of them with names.
func (f *finder) stuck(id string, list []Stay, text string) {
	if len(list) == 0 {
		return
	}
	most, where := 0.0, ""
	for i, s := range list {
		most = max(most, s.MS)
		switch {
		case i < failuresNamed:
			where += fmt.Sprintf("thread %d in %s, ", s.Thread, s.Method)
		case i == failuresNamed:
			where += "and others, "
		}
	}
	f.add(id, Look, text, things("threads", len(list), "thread waited", "threads waited"), span("ms", most), where[:len(where)-2])
}
