package ask

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/analysis/activities"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewRequests returns the command that shows activities.
func NewRequests() *Question {
	q := new(Question)
	var why string
	*q = Question{
		name:   "requests",
		reads:  true,
		naming: true,
		clips:  true,
		short:  "Show how long requests and other activities took",
		Long: `Requests shows how long the activities of a .NET program took: requests that it serves
and makes, connections, look-ups of names, queries, and whatever else an EventSource
tells as a pair of start and stop events; in .etl files, those of IIS, ASP.NET and
http.sys, too. EXCLUSIVE MS leaves out the time in which an activity was on that this
one had begun.

The rows are tasks, or by --by: endpoints, that is HTTP requests by method and
route, or path with * for ids, and others by a field that says what they are for, such as
path, url, operation or commandText; all activities; statuses that they ended with;
processes; or intervals of time. JSON as one document has the twenty slowest of each task, with --by
activity all. A request fails with a status of 500 or more, for who makes it of 400 or
more.`,
		example: `  etw requests requests-10.nettrace
  etw requests --by endpoint requests-10.nettrace
  etw requests --by activity --rows 'durationMs >= 5' requests-10.nettrace
  etw requests --by status --format md requests-10.nettrace
  etw requests --format json requests-10.nettrace | jq '.processes[0].tasks[0].durationMs.p95'`,
		next: []show.Suggestion{
			show.Next("etw gc", "whether pauses fall into them"),
			show.Next("etw threadpool", "whether they wait for threads"),
			show.Next("etw top", "which code is on the stacks"),
		},
		views:    viewsOf(new(requests.Result)),
		cut:      "of activities from before --from, or to after --to, the part within counts, in quantiles and as the longest, too: how long they took is told without these flags",
		codeless: []string{"task", "endpoint", "activity", "status", "process", "time"},
		Needs:    requests.Needs, Better: activities.Needs,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&why, "why", "", "say where the time went of activities with this `NAME`, id or endpoint, with * for\nany text, by --by cause; or of the slowest of them, by --by path")
		},
		implied: func() string {
			if why != "" {
				return "cause"
			}
			return ""
		},
		ask: func(mux *etw.Mux) answer {
			a := requests.New(mux)
			if m := q.named; m != nil {
				a.NameBy(func(s *stacks.Samples) *stacks.Profile { return m.Below("", s) })
			}
			if why != "" || q.by == "path" {
				a.Explain(func(task, endpoint string, act *requests.Activity) bool {
					return explains(filter.Glob(cmp.Or(why, "*")), task, endpoint, act)
				})
			}
			if q.by == "activity" {
				a.Keep(math.MaxInt / 2)
			}
			chosen := func(names []filter.Glob) { a.Choose(pick.Named(names)) }
			return &viewed[*requests.Result]{find: a.Result, any: anyRequest, caused: chosen, facts: requestTotals,
				wrong: func(res *requests.Result) error { return explained(why, res) }}
		},
	}
	return q
}

// explains reports whether an activity is asked for: by its task, with its provider or
// without, its endpoint, name or id.
func explains(name filter.Glob, task, endpoint string, act *requests.Activity) bool {
	_, short, _ := strings.Cut(task, "/")
	return slices.ContainsFunc([]string{task, short, endpoint, act.Name, act.ID, act.SpanID}, name.Match)
}

// explained returns an error if no activity is called as --why says.
func explained(why string, res *requests.Result) error {
	if why == "" || len(res.Why) > 0 {
		return nil
	}
	var known []string
	for _, p := range res.Processes {
		for _, t := range p.Tasks {
			known = append(known, t.Task)
			for _, e := range t.Endpoints {
				known = append(known, e.Endpoint)
			}
		}
	}
	return pick.NoActivity("--why "+why, why, known)
}

func anyRequest(res *requests.Result) bool {
	return slices.ContainsFunc(res.Processes, func(p *requests.Process) bool {
		return p.Started+p.Stopped+p.WithoutID+len(p.Tasks) > 0 || p.RuntimeAsync != nil
	})
}

func requestTotals(p *page, res *requests.Result) {
	if len(res.Processes) > fewRuntimes {
		p.title(fmt.Sprintf("%d processes", len(res.Processes)))
		p.small(viewOf(res, "process", p.names))
		return
	}
	for _, x := range res.Processes {
		p.runtime(x.PID, 0)
		p.line("activities", "%d began, %d ended, of %s", x.Started, x.Stopped, show.Count(len(x.Tasks), "kind", "kinds"))
	}
	for _, w := range res.Why {
		whyTotals(p, w)
	}
}

// whyTotals says where the time went of activities that were asked for.
func whyTotals(p *page, w *requests.Why) {
	open := ""
	if w.Open > 0 {
		open = fmt.Sprintf("; %d not over, until the end", w.Open)
	}
	p.line("asked for", "%s, %s, the longest %s%s", show.Count(w.Count, "activity", "activities"), show.MS(w.DurationMS.Total), show.MSOf(w.DurationMS.Max), open)
	if w.Untold > 0 {
		p.line("not told", "of %d the trace does not say where their time went", w.Untold)
	}
	if c := w.Causes; c != nil {
		var list []string
		blocked := "blocked"
		if c.OnTasksMS > 0 {
			blocked += " (" + show.MS(c.OnTasksMS) + " of it for tasks: sync over async)"
		}
		for _, x := range []struct {
			ms   float64
			name string
		}{{c.RunningMS, "running"}, {c.AwaitingMS, "awaiting"}, {c.QueuedMS, "queued"}, {c.BlockedMS, blocked}, {c.LockMS, "locks"}, {c.ReadyMS, "ready"},
			{c.GCMS, "collections"}, {c.JITMS, "compiling"}, {c.OthersMS, "others"}, {c.UntoldMS, "untold: threads may have worked or waited, in native code or while the sampler did not look"}} {
			if x.ms > 0 {
				list = append(list, show.MS(x.ms)+" "+x.name)
			}
		}
		p.line("of that", "%s", strings.Join(list, ", "))
		p.line("beside it", "%s in parallel, %s after the end", show.MS(c.ParallelMS), show.MS(c.LateMS))
	}
	if s := w.Slowest; s != nil {
		p.line("slowest", "%s %s at %s, %s", w.Task, cmp.Or(s.Name, s.ID), show.MS(s.StartMS), show.MS(s.DurationMS))
	}
}
