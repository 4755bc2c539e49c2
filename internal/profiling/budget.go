package profiling

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// A budget bounds the cost of windows to processes: a share of one processor, over time.
type budget struct {
	share float64 // of a processor

	mu       sync.Mutex
	left     float64 // seconds of a processor that may be spent; below 0 they are owed
	most     float64 // that can be saved up
	rate     float64 // processors that sampling takes, as far as is known
	measured bool
	at       time.Time // when left was true
}

// assumedRate is the assumed rate of sampling until it was measured: half a processor, which
// is several times the cost to a service of some 15 threads.
const assumedRate = 0.5

// leastWindow is the shortest window that is worth its session.
const leastWindow = 200 * time.Millisecond

func newBudget(share float64, interval time.Duration, now time.Time) *budget {
	most := max(share*interval.Seconds(), assumedRate*leastWindow.Seconds())
	return &budget{share: share, left: most, most: most, rate: assumedRate, at: now}
}

// window returns how long a window may be that is to be so long: 0 if there can be none yet.
func (b *budget) window(want time.Duration, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+now.Sub(b.at).Seconds()*b.share, b.most)
	b.at = now
	if b.share <= 0 {
		return want
	}
	seconds := b.left / max(b.rate, 1e-3)
	if seconds >= want.Seconds() {
		return want
	}
	if can := time.Duration(max(seconds, 0) * float64(time.Second)); can >= leastWindow {
		return can
	}
	return 0
}

// spend notes a window, and how many processors more the process took than without, if that
// is known. One window tells little, since a service is not always as busy; so its cost is
// the mean of several. It returns the estimated cost of the window, in seconds.
func (b *budget) spend(long time.Duration, more float64, known bool) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case known && !b.measured:
		b.rate, b.measured = more, true
	case known:
		b.rate += (more - b.rate) / 4
	}
	cost := max(b.rate, 0) * long.Seconds()
	b.left -= cost
	return cost
}

// state returns how many processors sampling takes, and whether that was measured.
func (b *budget) state() (rate float64, measured bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.rate, 0), b.measured
}

// processorTime returns the time of processors that a process has had, where the system tells
// it as Linux does.
func processorTime(pid int64) (time.Duration, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.FormatInt(pid, 10) + "/stat")
	if err != nil {
		return 0, false
	}
	// The name of the program, which can have spaces, stands in parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, false
	}
	ticks := int64(0)
	for _, f := range fields[user : system+1] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100), true // as on all that .NET runs on
}

// A load follows how many processors a process takes.
type load struct {
	pid  int64
	at   time.Time
	had  time.Duration
	know bool
}

// since returns how many processors the process took since it was last asked.
func (l *load) since(now time.Time) (processors float64, known bool) {
	had, ok := processorTime(l.pid)
	known = ok && l.know && now.After(l.at)
	if known {
		processors = (had - l.had).Seconds() / now.Sub(l.at).Seconds()
	}
	l.at, l.had, l.know = now, had, ok
	return processors, known
}
