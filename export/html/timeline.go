package html

import (
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/timeline"
)

// tracks are lanes of events over time, in equal buckets.
type tracks struct {
	From  float64 `json:"from"`  // in seconds
	Width float64 `json:"width"` // of a bucket, in seconds
	Note  string  `json:"note"`
	Lanes []*lane `json:"lanes"`
}

// A lane is one thing over time.
type lane struct {
	Label  string   `json:"label"`
	Title  string   `json:"title,omitempty"` // all of the label, if it lacks something
	Unit   string   `json:"unit"`
	How    string   `json:"how"`
	Color  string   `json:"color"`
	Total  string   `json:"total,omitempty"`
	Values *numbers `json:"y"`
}

// maxLanes is how many lanes a page has of each process, and maxAlike how many of one kind:
// those that come first.
const (
	maxLanes = 60
	maxAlike = 12
)

// addLanes gives each process its lanes. Lanes of the machine that are of none of the page's
// processes are left out.
func (s *subjects) addLanes(res *timeline.Result) {
	if res == nil {
		return
	}
	of := make(map[int64]*subject)
	for _, x := range s.list {
		if of[x.pid] == nil && !x.machine {
			of[x.pid] = x
		}
	}
	for _, l := range res.Lanes {
		x, own := of[l.PID], s.byKey[key{pid: l.PID, life: l.Life, machine: true}]
		if x == nil || l.Several() && slices.Contains(machineKinds, l.Kind) {
			x = own
		}
		if x != nil && l.TID == 0 {
			x.timeline, x.lanes = res, append(x.lanes, l)
		}
	}
}

// An appearance is the name of lanes of a kind, and their colour.
type appearance struct{ label, color string }

var appearances = map[timeline.Kind]appearance{
	timeline.CPU: {"Processor", "cpu"}, timeline.Running: {"Running", "cpu"}, timeline.Managed: {"In managed code", "cpu"}, timeline.Awake: {"Not waiting", "cpu"}, timeline.ThreadTime: {"Thread time", "other"},
	timeline.GCPause: {"Pauses for collections", "gc"}, timeline.Heap: {"Heap", "gc"}, timeline.Allocated: {"Allocated", "gc"},
	timeline.Exceptions: {"Exceptions, also passed on", "bad"}, timeline.Compiling: {"Compiling", "jit"}, timeline.Contention: {"Waits for locks", "lock"},
	timeline.Waits: {"Other waits", "blocked"}, timeline.Workers: {"Pool workers", "queue"}, timeline.Requests: {"Requests", "await"},
	timeline.RequestTime: {"In requests", "await"}, timeline.Causes: {"Causes", "await"}, timeline.Disk: {"Disks", "accent"}, timeline.Network: {"Network", "accent"},
	timeline.Counter: {"Counter", "cpu"},
}

// addTimeline adds the lanes of a process.
func addTimeline(v *view, s *subject) {
	if len(s.lanes) == 0 {
		return
	}
	res := s.timeline
	t := newTracks(res)
	alike, beside := make(map[timeline.Kind]int), 0
	for _, l := range s.lanes {
		if l.Kind == timeline.Causes && !s.ofServed(l) {
			beside++
			continue
		}
		if alike[l.Kind]++; alike[l.Kind] > maxAlike || len(t.Lanes) == maxLanes {
			continue
		}
		t.Lanes = append(t.Lanes, laneOf(l))
	}
	sec := &section{ID: "timeline", Title: "Timeline", Tracks: t}
	if n := len(s.lanes) - len(t.Lanes) - beside; n > 0 {
		sec.Lead = []string{count(n, "more lane is", "more lanes are") + " left out: etw timeline has all."}
	}
	v.Sections = append(v.Sections, sec)
}

// ofServed reports whether a lane is of the requests that people mean: parts of others are
// the same time again.
func (s *subject) ofServed(l *timeline.Lane) bool {
	if s.requests == nil {
		return false
	}
	x := served(s.requests.Tasks)
	return x == nil || strings.HasPrefix(l.Of, x.Provider+"/"+x.Task+": ")
}

// newTracks returns the tracks of a timeline, without lanes.
func newTracks(res *timeline.Result) *tracks {
	return &tracks{From: res.FromMS / 1000, Width: res.BucketMS / 1000, Lanes: []*lane{},
		Note: "Each lane has its own scale; its highest value in the time that is shown is at the right. Drag to see a part of the time, in all of the page; the window above can be moved. Ctrl and the wheel zoom."}
}

// laneOf makes a lane of that of a timeline.
func laneOf(l *timeline.Lane) *lane {
	as := appearances[l.Kind]
	x := &lane{Label: as.label, Unit: clean(laneUnit(l.Unit)), How: string(l.How), Color: as.color, Total: totalOf(l)}
	if l.Of != "" {
		x.Label, x.Title = clean(afterSource(l.Of)), clean(l.Of)
	}
	if l.Kind == timeline.Causes {
		for _, c := range causeColors {
			if strings.HasSuffix(l.Of, ": "+strings.TrimSuffix(c.Key, "Ms")) {
				x.Color = c.Color
			}
		}
	}
	values := make([]float64, len(l.Values))
	for i, f := range l.Values {
		values[i] = orNaN(f)
	}
	x.Values = &numbers{values: values, digits: 4}
	return x
}

// afterSource returns the name of a task or a counter without that of who tells of it.
func afterSource(of string) string {
	if _, name, ok := strings.Cut(of, "/"); ok {
		return name
	}
	return of
}

// laneUnit returns the unit of a lane as it stands behind a number.
func laneUnit(unit string) string {
	if unit == "count" {
		return ""
	}
	return unit
}

// totalOf returns the total of a lane.
func totalOf(l *timeline.Lane) string {
	if v, ok := l.Total.Get(); ok {
		switch l.Unit {
		case "count":
			text := grouped(v, 0)
			if l.Kind == timeline.Requests {
				text += " ended"
			}
			return text
		case "ms":
			if l.Kind == timeline.RequestTime {
				return span(v) + " under way"
			}
			return span(v)
		case "MB":
			return size(v * 1e6)
		}
		return clean(strings.TrimSpace(precise(v) + " " + laneUnit(l.Unit)))
	}
	if v, ok := l.Highest.Get(); ok {
		return clean(strings.TrimSpace("up to " + strconv.FormatFloat(v+0, 'g', 4, 64) + " " + laneUnit(l.Unit)))
	}
	return ""
}
