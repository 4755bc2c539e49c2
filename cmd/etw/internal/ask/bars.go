package ask

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// table has a row for each lane with a line of bars, or for programs one for each bucket
// of each lane.
func (a *timelineAnswer) table(_ string, who *pick.Names) *show.Table {
	if !a.forPeople {
		return viewOf(a.res, "bucket", who)
	}
	lanes := a.shown()
	several, ofThreads := false, false
	for _, l := range lanes {
		several = several || l.PID != lanes[0].PID || l.Life != lanes[0].Life
		ofThreads = ofThreads || l.TID != 0
	}
	alike := sources(lanes)
	process, thread := show.Label("process"), show.Label("thread")
	if !several {
		process = process.ForPrograms()
	}
	if !ofThreads {
		thread = thread.ForPrograms()
	}
	at := show.Moment("atMs")
	if a.narrow {
		at = at.ForPrograms()
	}
	right := func(name string) show.Column {
		return show.Column{Name: name, Head: show.Heading(name), Right: true, Number: true}
	}
	t := show.NewTable(process, thread, show.Label("lane"), right("total"), right("highest"), at, show.Column{Name: "bars", Head: a.scale()})
	for _, l := range lanes {
		process := who.OfProcess(l.PID)
		switch {
		case l.PID < 0:
			process = unknown
		case l.Several():
			process = pick.OfProgram(l.PID, l.Process)
		}
		thread := ""
		if l.TID != 0 {
			thread = who.OfThread(l.TID)
		}
		name := laneName(l)
		if alike[name] > 1 {
			name = strings.TrimSpace(laneNames[l.Kind] + " " + l.Of)
		}
		if a.names > 0 {
			process, thread, name = show.Shorten(process, a.names), show.Shorten(thread, a.names), show.Shorten(name, a.names)
		}
		t.Add(process, thread, name, inUnit(l.Total, l.Unit), inUnit(l.Highest, l.Unit), show.Maybe(l.HighestMS), bars(l))
	}
	if n := len(a.res.Lanes); len(lanes) < n {
		t.Chosen = fmt.Sprintf("%d largest of each kind, of %d lanes; --top shows more, --lanes one kind", lanesOfKind, n)
	}
	return t
}

// lanesOfKind is how many lanes of each kind people see if they do not say.
const lanesOfKind = 3

// shown returns the lanes that people see.
func (a *timelineAnswer) shown() []*timeline.Lane {
	if a.q.rank.Top > 0 || len(a.kinds) == 1 {
		return a.res.Lanes
	}
	counts := make(map[timeline.Kind]int)
	var list []*timeline.Lane
	for _, l := range a.res.Lanes {
		if counts[l.Kind]++; counts[l.Kind] <= lanesOfKind {
			list = append(list, l)
		}
	}
	return list
}

// scale is the heading of the bars: from when to when they are.
func (a *timelineAnswer) scale() string {
	n := int((a.res.ToMS-a.res.FromMS)/a.res.BucketMS + 0.5)
	from, to := "├ "+point(a.res.FromMS), point(a.res.ToMS)+" ┤"
	if room := n - show.TextWidth(from) - show.TextWidth(to); room >= 1 {
		return from + strings.Repeat(" ", room) + to
	}
	return from
}

// point returns a time as short as its size allows.
func point(ms float64) string {
	switch {
	case ms >= 1e5 || ms <= -1e5:
		return strconv.FormatFloat(ms/1000, 'f', 0, 64) + " s"
	case ms >= 1e3 || ms <= -1e3:
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	}
	return strconv.FormatFloat(ms, 'f', 1, 64) + " ms"
}

// laneNames are the names of lanes for people.
var laneNames = map[timeline.Kind]string{
	timeline.CPU: "processor", timeline.Running: "running", timeline.Managed: "in managed code", timeline.Awake: "not waiting", timeline.ThreadTime: "thread time",
	timeline.GCPause: "GC pauses", timeline.Heap: "heap", timeline.Allocated: "allocated", timeline.Exceptions: "exceptions",
	timeline.Compiling: "compiling", timeline.Contention: "waits for locks", timeline.Waits: "other waits", timeline.Workers: "pool workers",
	timeline.Requests: "requests", timeline.RequestTime: "in requests", timeline.Causes: "causes", timeline.Disk: "disks", timeline.Network: "network",
}

// laneName returns the name of a lane. Of its source people see only the task, or the name
// of the counter.
func laneName(l *timeline.Lane) string {
	of := l.Of
	if _, name, ok := strings.Cut(of, "/"); ok {
		of = name
	}
	return strings.TrimSpace(laneNames[l.Kind] + " " + of)
}

// sources counts of how many sources there are lanes with one name.
func sources(lanes []*timeline.Lane) map[string]int {
	counts := make(map[string]int)
	seen := make(map[string]bool)
	for _, l := range lanes {
		if whole := string(l.Kind) + " " + l.Of; !seen[whole] {
			seen[whole] = true
			counts[laneName(l)]++
		}
	}
	return counts
}

// inUnit returns a value with its unit.
func inUnit(v quantity.Float, unit string) string {
	f, ok := v.Get()
	if !ok {
		return "-"
	}
	digits := 1
	switch {
	case unit == "count" || unit == "threads":
		digits, unit = 0, ""
	case unit == "By" || unit == "B":
		return show.Size(f)
	case unit == "MB":
		return show.Size(f * 1e6)
	case strings.HasPrefix(unit, "{"): // what is counted, as metrics have it
		digits, unit = 0, strings.Trim(unit, "{}")
	}
	if whole := math.Trunc(f) == f; digits == 0 && !whole || unit == "s" {
		digits = 3
	}
	return strings.TrimSpace(strconv.FormatFloat(f, 'f', digits, 64) + " " + unit)
}

// The bars, from the lowest.
var barRunes = []rune("▁▂▃▄▅▆▇█")

// bars draws the values of a lane, each from nothing to the highest of the lane: nothing is
// a space, more is a bar, and an unknown value a dot.
func bars(l *timeline.Lane) string {
	most := 0.0
	for _, v := range l.Values {
		most = max(most, v.Or(0))
	}
	drawn := make([]rune, len(l.Values))
	for i, v := range l.Values {
		f, ok := v.Get()
		switch {
		case !ok:
			drawn[i] = '·'
		case f <= 0 || most == 0:
			drawn[i] = ' '
		default:
			drawn[i] = barRunes[min(int(f/most*float64(len(barRunes))), len(barRunes)-1)]
		}
	}
	return string(drawn)
}
