package ask

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// whyNotHere says that the trace has an answer outside of the scope, if it does, which
// another pass tells.
func (q *Question) whyNotHere(i *pick.Inquiry, args []string) string {
	if (i.Cut || i.Parted || q.scope.Parted()) && !slices.Contains(args, trace.Stdin) && q.answersAll(i, args) {
		if q.scope.Threads() != nil {
			return "the trace has an answer, but not for the threads, the time and the processes that were asked for"
		}
		why := "the trace has an answer, but not for the time and the processes that were asked for"
		if i.Cut && q.cut != "" {
			why += "; " + q.cut
		}
		return why
	}
	return show.WhyPart(q.scope.Part)
}

// reportNone says why there is no answer: that is known, or the trace lacks something. It
// returns cli.ErrNone unless the trace has an answer, or events of which the answer is that
// there is nothing.
func (q *Question) reportNone(cmd *cobra.Command, a *answered) error {
	there := slices.IndexFunc(q.Needs, func(n need.Need) bool { return a.seen.Recorded(&n) })
	switch {
	case a.why != "":
		cli.Report(cmd, errors.New(a.why))
		return nil
	case q.missing != "":
		cli.Report(cmd, errors.New(q.lack(a)))
	case q.broken != "" && a.has(q.Needs):
		cli.Report(cmd, errors.New(q.broken))
	case there >= 0 && !cli.IsLive(cmd):
		were := "and there were none"
		if n := a.t.Stats(); n.Lost+n.LostBuffers > 0 {
			were = "but events were lost: whether there were any is not known"
		}
		cli.Report(cmd, fmt.Errorf("the trace has no events of %s, though others of their keyword: they were recorded, %s", q.Needs[there].What, were))
	default:
		show.ReportNeeds(cmd, q.Needs, a.t)
	}
	if q.standing && a.kinds.have(sampler) && !cli.IsLive(cmd) {
		cli.Report(cmd, errors.New("where threads stood all the time there are no such events, though they were recorded: etw top --by stack --as-sampled shows where"))
	}
	if q.switched != "" && a.seen.Has(&need.Switches, false) == need.Present {
		cli.Report(cmd, errors.New(q.switched))
	}
	for _, text := range q.unread(a) {
		cli.Report(cmd, errors.New(text))
	}
	if cli.IsLive(cmd) || there >= 0 || q.missing != "" && a.has(q.Needs) {
		return nil
	}
	return cli.ErrNone
}

// lack says in the question's own words what the trace lacks.
func (q *Question) lack(a *answered) string {
	if q.sampled != "" && a.seen.Has(&need.Samples, false) == need.Present {
		return show.OnSystem(q.sampled, a.t)
	}
	return show.OnSystem(q.missing, a.t)
}

// partial says that an answer of a part by threads is of all of them.
func (q *Question) partial() []string {
	if p := q.scope.Part; p == nil || p.Threads == "" || !q.stays {
		return nil
	}
	return []string{"the trace is a part of another by threads, but has this of all of them"}
}

// Kinds count the events of a trace by kind, which has an index.
type kinds []struct {
	*etw.EventInfo
	count int64
}

func (k *kinds) see(e *etw.EventInfo) {
	if n := e.Index + 1 - len(*k); n > 0 {
		*k = append(*k, make(kinds, n)...)
	}
	of := &(*k)[e.Index]
	of.EventInfo = e
	of.count++
}

// have reports whether there are events of a provider.
func (k kinds) have(provider string) bool {
	for _, of := range k {
		if of.EventInfo != nil && of.Provider == provider {
			return true
		}
	}
	return false
}

// sampler is the provider of samples of threads, whether they run or wait.
const sampler = "Microsoft-DotNETCore-SampleProfiler"

// unread names, where a trace has no answer about a machine, the providers of Windows' kernel
// that no answer is of, and those that nothing here has a name for.
func (q *Question) unread(a *answered) []string {
	if q.missing == "" && !slices.ContainsFunc(q.Needs, func(n need.Need) bool { return n.Recorder != "" }) {
		return nil
	}
	counts := make(map[string]int64)
	for _, e := range a.kinds {
		if e.EventInfo == nil {
			continue
		}
		if _, err := etw.ParseGUID(e.Provider); err == nil || strings.HasPrefix(e.Provider, "Microsoft-Windows-Kernel-") && (e.Desc == nil || !slices.ContainsFunc(system.Provided, func(p *etw.Provider) bool { return p.Desc.Name == e.Provider })) {
			counts[e.Provider] += e.count
		}
	}
	if len(counts) == 0 {
		return nil
	}
	const named = 3
	names := slices.Collect(maps.Keys(counts))
	order.Sort(names, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	list := each.Of(names[:min(len(names), named)], func(name string) string { return show.Count(counts[name], "event", "events") + " of " + name })
	if n := len(names) - named; n > 0 {
		list = append(list, "those of "+show.Count(n, "other provider", "other providers"))
	}
	return []string{"the trace has events that no answer is of, and dump shows: " + strings.Join(list, ", ")}
}

// has reports whether the trace has any events of the needs.
func (a *answered) has(needs []need.Need) bool {
	return slices.ContainsFunc(needs, func(n need.Need) bool { return a.seen.Has(&n, false) == need.Present })
}

// answersAll reports whether the traces have an answer for any time and process.
func (q *Question) answersAll(i *pick.Inquiry, args []string) bool {
	t, _, err := q.in.Open(i.Cmd, args, false)
	if err != nil {
		return false
	}
	defer t.Close()
	var mux etw.Mux
	again := q.ask(&mux)
	return pick.Once(i.Cmd, t, mux.Dispatch) == nil && again.take()
}
