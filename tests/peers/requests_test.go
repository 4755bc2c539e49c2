package peers

import (
	"math"
	"strings"

	"github.com/etwgen/etwgen/analysis/requests"
)

type peerRequests struct {
	Started, Stopped int
	Activities       []peerActivity
}

type peerActivity struct {
	Task, Name, Creator string
	StartMS, DurationMS float64
	PID, StopTID        int64
}

// handling is the task of the runtime's own pairs of events.
const handling = "ExceptionHandling"

// onlyHere are the tasks that are told by other events than pairs with an activity.
var onlyHere = map[string]bool{"HttpConnection": true, "RequestQueue": true}

func compareRequests(s *sheet) {
	theirs := &s.theirs.Requests
	var list []peerActivity
	for _, a := range theirs.Activities {
		if a.Task != handling {
			list = append(list, a)
		}
	}
	if len(list) < len(theirs.Activities) {
		s.differs(whyHandling)
	}
	started, ended, open := 0, 0, 0
	total, want := 0.0, 0.0
	for _, p := range s.ours.Requests.Processes {
		started, open = started+p.Started, open+p.Open+p.LostStops
		for i := range p.Tasks {
			t := &p.Tasks[i]
			if onlyHere[t.Task] {
				s.differs(whyOnlyHere)
				started, open = started-t.Count-t.Open, open-t.Open
				continue
			}
			ended, total = ended+t.Count, total+t.DurationMS.Total
			for j := range t.Slowest {
				a := &t.Slowest[j]
				if longer, only := otherStop(s, p.PID, a, list); longer > 0 {
					s.differs(whyOtherStop)
					if total -= longer; only {
						ended, open = ended-1, open+1
					}
					continue
				}
				compareActivity(s, p.PID, t, a, list)
			}
		}
	}
	for _, a := range list {
		want += a.DurationMS
	}
	if started+len(list) == 0 {
		return
	}
	s.equal("ended", ended, len(list))
	s.near("time of all", total, want)
	if len(list) == len(theirs.Activities) { // else those that were handled are among the started
		s.equal("started", started, theirs.Started)
		s.equal("open", open, theirs.Started-theirs.Stopped)
	}
}

// otherStop returns how much longer an activity is here than there, where a stop with the id of one ended another
// within it: that one is only here, and the one around it lasts until its own stop.
func otherStop(s *sheet, pid int64, a *requests.Activity, list []peerActivity) (longer float64, only bool) {
	ends := func(start, duration, at float64) bool { return math.Abs(start+duration-at) <= 1e-6 }
	for i := range list {
		p := &list[i]
		switch {
		case p.PID != pid:
		case math.Abs(p.StartMS-a.StartMS) <= 1e-6 && p.DurationMS < a.DurationMS-1e-6:
			for _, process := range s.ours.Requests.Processes {
				for _, t := range process.Tasks {
					for _, b := range t.Slowest {
						if process.PID == pid && b.StartMS > a.StartMS && ends(b.StartMS, b.DurationMS, p.StartMS+p.DurationMS) {
							return a.DurationMS - p.DurationMS, false
						}
					}
				}
			}
		case p.StartMS < a.StartMS-1e-6 && ends(p.StartMS, p.DurationMS, a.StartMS+a.DurationMS):
			return a.DurationMS, true
		}
	}
	return 0, false
}

// compareActivity compares one activity with that which began at the same time.
func compareActivity(s *sheet, pid int64, t *requests.Task, a *requests.Activity, list []peerActivity) {
	for i := range list {
		p := &list[i]
		if p.PID != pid || math.Abs(p.StartMS-a.StartMS) > 1e-6 || math.Abs(p.DurationMS-a.DurationMS) > 1e-6 {
			continue
		}
		s.near("start", a.StartMS, p.StartMS)
		s.near("duration", a.DurationMS, p.DurationMS)
		s.equal("thread", a.Thread, p.StopTID)
		own := path(p.Name)
		if !strings.HasPrefix(a.ID, "/") {
			s.differs(whyForeign)
			return
		}
		s.equal("id", a.ID, own)
		creator, _, _ := strings.Cut(p.Creator, "(")
		if t.Provider != diagnosticSource { // whose activities are of one task there
			s.equal("task", t.Task, p.Task)
		}
		switch {
		case a.Parent == "" && creator != "" && path(p.Creator) != parentPath(own):
			s.differs(whyCreator)
		case creator == bridged: // which has the name that it brought here
			s.equal("path of the parent", parentPath(own), path(p.Creator))
		case t.Provider != diagnosticSource:
			s.equal("parent", a.Parent, creator)
		}
		return
	}
	s.t.Errorf("%s: requests: %s at %v for %v: TraceEvent has none", s.file, t.Task, a.StartMS, a.DurationMS)
}

// bridged is the task of all activities that diagnosticSource tells of.
const (
	diagnosticSource = "Microsoft-Diagnostics-DiagnosticSource"
	bridged          = "Activity"
)

// path returns the path in a name such as Request(/#17/1/2/,/scheme=http).
func path(name string) string {
	_, path, _ := strings.Cut(name, "(")
	path, _, _ = strings.Cut(path, ",")
	return strings.TrimSuffix(path, ")")
}

// parentPath returns the path of which one is the next step.
func parentPath(path string) string {
	path = strings.TrimSuffix(path, "/")
	return path[:strings.LastIndexByte(path, '/')+1]
}
