package profiling

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"sync"
	"time"
)

// A budget bounds the cost of windows to processes: a share of one processor, over time.
type budget struct {
	share float64 // of a processor

	mu   sync.Mutex
	left float64   // seconds of a processor that may be spent; below 0 they are owed
	most float64   // that can be saved up
	at   time.Time // when left was true
}

// assumedRate is the assumed rate of sampling until it was measured: half a processor, which
// is several times the cost to a service of some 15 threads.
const assumedRate = 0.5

// leastWindow is the shortest window that is worth its session.
const leastWindow = 200 * time.Millisecond

func newBudget(share float64, interval time.Duration, now time.Time) *budget {
	most := max(share*interval.Seconds(), assumedRate*leastWindow.Seconds())
	return &budget{share: share, left: most, most: most, at: now}
}

// window returns how long a window may be that is to be so long, and takes so many
// processors: 0 if there can be none yet.
func (b *budget) window(want time.Duration, rate float64, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.left+now.Sub(b.at).Seconds()*b.share, b.most)
	b.at = now
	if b.share <= 0 {
		return want
	}
	seconds := b.left / max(rate, leastRate)
	if seconds >= want.Seconds() {
		return want
	}
	if can := time.Duration(max(seconds, 0) * float64(time.Second)); can >= leastWindow {
		return can
	}
	return 0
}

// spend notes the cost of a window, in seconds of a processor.
func (b *budget) spend(cost float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left -= cost
}

// A price is how many processors sampling the threads of a process takes, as far as is known.
type price struct {
	rate     float64
	measured bool
}

// leastRate is taken of a process that seems to take no more when it is sampled.
const leastRate = 1e-3

// saw notes how many processors more the process took in a window. One window tells little,
// a short one less, since a service is not always as busy; so the price is a mean of several.
func (p *price) saw(long time.Duration, more float64) {
	const halves = time.Second // a window that long counts as much as all before
	p.rate += (more - p.rate) * float64(long) / float64(long+halves)
	p.measured = true
}

// of returns the cost of a window, in seconds of a processor.
func (p *price) of(long time.Duration) float64 { return max(p.rate, 0) * long.Seconds() }

// The part of a process's time that events may take is known by their number.
const (
	eventCost   = 10e-6 // seconds of a processor that an event takes, with its stack
	leastEvents = 100   // that an interval may have in any case
	assumedBusy = 0.1   // processors that a process takes where no system tells it
)

// limit returns how many events of each kind an interval may have, of a process that takes so
// many processors.
func (o *Options) limit(busy float64) int {
	most := maxSamples
	if o.MaxEvents > 0 {
		most = min(most, max(int(float64(o.MaxEvents)*o.Interval.Seconds()), 1))
	}
	if o.Share > 0 {
		seconds := busy * o.Interval.Seconds() * o.Share / 100 / 2 / float64(len(happenings))
		most = min(most, max(int(math.Round(seconds/eventCost)), leastEvents))
	}
	return most
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
