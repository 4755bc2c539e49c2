package code

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/files"
	work "github.com/etwgen/etwgen/analysis/kinds"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/outstanding"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A Gathered is the findings of an analysis.
type Gathered struct {
	Samples []*stacks.Samples
	Facts   []string
	Part    func(*stacks.Profile, stacks.Query) []string // the first fact, of the samples of a query; may be nil
	Period  int64

	callers bool // of the stacks may be missing
}

// Start registers the analysis of a kind of samples, and returns its samples and the facts
// about them when the trace was read. Records that are left out are for skip, if it is not nil: a sample
// does not stand for the time up to one of them. h may be nil.
func Start(kind *samples.Kind, mux *etw.Mux, t *trace.Trace, h *filter.Header) (finish func() Gathered, skip func(*etw.Record)) {
	source := kind.New(mux)
	if p, ok := source.(*samples.Processors); ok {
		p.SetInterval(SamplingInterval(t))
		parted := h != nil && h.During != nil
		skip = func(r *etw.Record) { p.Skip(r, parted) }
		if parted && h.Taken != nil && t != nil {
			p.Threads.Within(h.DuringSum(etw.FileTimeOf(t.Start())))
		}
	}
	return func() Gathered {
		g := Gather(source)
		if _, ok := source.(*threads.Analysis); ok && h != nil && h.During != nil && len(g.Facts) > 0 {
			g.Facts[0] = "of the times of --activity or --during: for how long threads ran in these is not told by switches"
		}
		return g
	}, skip
}

// startProcessors is Start of samples of processors, or of threads.
func startProcessors(mux *etw.Mux, t *trace.Trace) *samples.Processors {
	p := samples.NewProcessors(mux)
	p.SetInterval(SamplingInterval(t))
	return p
}

// Gather returns the findings of an analysis.
func Gather(source samples.Source) Gathered {
	switch a := source.(type) {
	case *samples.Processors:
		return gatherProcessors(a)
	case *files.Analysis:
		return gatherFiles(a)
	case *disk.Analysis:
		return gatherDisk(a)
	case *threads.Analysis:
		return gatherBlocked(a)
	case *outstanding.Analysis:
		return gatherOutstanding(a)
	case *exceptions.Analysis:
		said := func(*stacks.Profile, stacks.Query) []string {
			return []string{"each time that one was thrown, again or passed on by await, too, which etw exceptions tells apart"}
		}
		return Gathered{Samples: a.Samples(), Facts: said(nil, stacks.Query{}), Part: said}
	}
	return Gathered{Samples: source.Samples()}
}

// manyHalts is of what part of the time stops by the sampler are told: a tenth.
const manyHalts = 10

func gatherProcessors(p *samples.Processors) Gathered {
	if res := p.Linux.Result(); res.Samples > 0 {
		fact := func(samples int) []string {
			return []string{fmt.Sprintf("time on processors: %s, %s", show.Count(samples, "sample", "samples"), apart(res))}
		}
		list := p.Linux.Samples()
		return Gathered{Samples: list, Period: res.Interval, Facts: appendDeep(fact(res.Samples), list, deepestPerf),
			Part: func(p *stacks.Profile, _ stacks.Query) []string { return fact(p.Len()) }}
	}
	if g := kernelSamples(p.Kernel); g.Samples != nil {
		return g
	}
	res := p.Threads.Result()
	if res.Samples == 0 {
		return Gathered{}
	}
	facts := []string{"thread time, running or not"} // until its stacks have names
	if res.PauseMS > 0 {
		facts = append(facts, fmt.Sprintf("[GC pause] is %s for collections between the samples", show.MS(res.PauseMS)))
	}
	if res.UnsampledMS > 0 {
		facts = append(facts, fmt.Sprintf("threads were not looked at for %s, all of them together, which is in no number", show.MS(res.UnsampledMS)))
	}
	if halts, of := p.Threads.Halts(); halts*manyHalts > of {
		facts = append(facts, fmt.Sprintf("the program was stopped for %s, %s of the time, for other reasons than collections, most likely by the sampler: methods have that time, too", show.MS(float64(halts)/1e6), show.PercentOf(measure.Known(100*float64(halts)/float64(max(of, 1))))))
	}
	list := p.Threads.Samples()
	return Gathered{Samples: list, Facts: appendDeep(facts, list, deepestEventPipe), Period: res.Interval(), Part: func(p *stacks.Profile, _ stacks.Query) []string {
		n, _ := byState(p)
		threads, untold := show.Count(threadsOf(p), "thread", "threads"), n[cpu.Untold]
		fact := fmt.Sprintf("%d samples of %s in managed code, %d in code that it called", n["managed"], threads, n["external"])
		switch {
		case n["managed"]+n["external"] == 0 && untold > 0:
			fact = fmt.Sprintf("%d samples of %s, in managed code or in code that it called: the runtime does not tell which", untold, threads)
		case untold > 0:
			fact += fmt.Sprintf(", %d in either, since their runtime does not tell which", untold)
		}
		return []string{"thread time, running or not: " + fact + "; " + show.MS(res.IntervalMS) + " apart"}
	}}
}

// about returns the facts about samples whose stacks have names.
func (g *Gathered) about(p *stacks.Profile) []string {
	if p.Kind != cpu.ThreadTime || len(g.Facts) == 0 {
		return g.Facts
	}
	return append(g.Part(p, stacks.Query{}), g.Facts[1:]...)
}

// kernelSamples returns the samples that the kernel took, if it did.
func kernelSamples(k *cpu.Kernel) Gathered {
	res := k.Result()
	if res.Samples+res.Idle == 0 {
		return Gathered{}
	}
	facts := []string{fmt.Sprintf("time on processors: %s, %d without a stack; %d of idle processors are left out; %s",
		show.Count(res.Samples, "sample", "samples"), res.Samples-res.Stacks, res.Idle, apart(res))}
	if res.Undefined > 0 {
		facts = append(facts, fmt.Sprintf("the addresses of %s are not in the trace: they come later than the samples, where a trace may be cut off or filtered", show.Count(res.Undefined, "stack", "stacks")))
	}
	facts = appendForeign(facts, res.Misdefined, "callers in programs of samples in the kernel")
	list := k.Samples()
	return Gathered{Samples: list, Facts: appendDeep(facts, list, deepestWindows), Period: res.Interval, Part: func(p *stacks.Profile, q stacks.Query) []string {
		bare := k.Stackless(func(pid, at int64) bool {
			t := time.Unix(0, at)
			return !t.Before(q.From) && (q.To.IsZero() || t.Before(q.To)) && (len(q.Processes) == 0 || slices.Contains(q.Processes, pid))
		})
		return []string{fmt.Sprintf("time on processors: %s, %d without a stack; %s", show.Count(p.Len(), "sample", "samples"), bare, apart(res))}
	}}
}

// appendForeign says how many stacks are left out as they are others', and which may be.
func appendForeign(facts []string, n int, others string) []string {
	if n == 0 {
		return facts
	}
	return append(facts, fmt.Sprintf("the addresses of %s are those of other stacks, which had their keys later, and are left out; %s may be, too, which nothing tells", show.Count(n, "stack", "stacks"), others))
}

func gatherFiles(a *files.Analysis) Gathered {
	res := a.Result()
	if res.Operations == 0 {
		return Gathered{}
	}
	facts := []string{fmt.Sprintf("time of operations on files: %s, %s read, %s written; by --label op=read and others, --by file", show.Count(res.Operations, "operation", "operations"),
		show.Size(float64(res.Read)), show.Size(float64(res.Written)))}
	if res.Open > 0 {
		facts = append(facts, fmt.Sprintf("of %s the trace has no end: they count, and weigh nothing", show.Count(res.Open, "operation", "operations")))
	}
	return Gathered{Samples: a.Samples(), Facts: facts, Part: func(p *stacks.Profile, _ stacks.Query) []string {
		return []string{fmt.Sprintf("time of operations on files: %s; by --label op=read and others, --by file", show.Count(p.Len(), "operation", "operations"))}
	}}
}

func gatherDisk(a *disk.Analysis) Gathered {
	res := a.Result()
	if res.Operations == 0 {
		return Gathered{}
	}
	facts := []string{fmt.Sprintf("time from asking a disk to its answer, of requests at the same time added: %s, %s; by --label op=read, write or flush, --by file", show.Count(res.Operations, "operation", "operations"), show.Size(float64(res.Bytes))),
		fmt.Sprintf("disks were busy for %s", show.MS(float64(res.Busy)/1e6))}
	if res.Orphans > 0 {
		facts = append(facts, fmt.Sprintf("%s have no stack: no event tells when they were asked for", show.Count(res.Orphans, "operation", "operations")))
	}
	if res.Unfit > 0 {
		facts = append(facts, fmt.Sprintf("the times of %s cannot be: they count, and weigh nothing", show.Count(res.Unfit, "operation", "operations")))
	}
	return Gathered{Samples: a.Samples(), Facts: facts, Part: func(p *stacks.Profile, _ stacks.Query) []string {
		return []string{fmt.Sprintf("time from asking a disk to its answer, of requests at the same time added: %s; by --label op=read, write or flush, --by file", show.Count(p.Len(), "operation", "operations"))}
	}}
}

func gatherOutstanding(a *outstanding.Analysis) Gathered {
	res := a.Result()
	if res.Allocated.Count+res.Older == 0 {
		return Gathered{}
	}
	said := func(m outstanding.Amount) string {
		if res.Allocated.Bytes == 0 { // handles
			return show.Whole(m.Count)
		}
		return show.Size(float64(m.Bytes))
	}
	facts := []string{fmt.Sprintf("allocated %s, given back %s, and not %s", said(res.Allocated), said(res.Freed), said(res.Outstanding))}
	if res.Older > 0 {
		facts = append(facts, fmt.Sprintf("%d more were given back, which are older than the trace", res.Older))
	}
	return Gathered{Samples: a.Samples(), Facts: facts}
}

func gatherBlocked(a *threads.Analysis) Gathered {
	res := a.Result()
	if res.Switches == 0 {
		return Gathered{}
	}
	facts := []string{fmt.Sprintf("threads ran for %s, waited for %s, and were ready to run for %s", show.MS(res.RunningMS), show.MS(res.WaitingMS), show.MS(res.ReadyMS))}
	if res.Readies == 0 {
		facts[0] = fmt.Sprintf("threads ran for %s, and waited for %s, which includes being ready to run: no event tells it apart", show.MS(res.RunningMS), show.MS(res.WaitingMS))
	}
	if res.DarkMS > 0 {
		facts = append(facts, res.Dark())
	}
	if res.Gaps > 0 {
		facts = append(facts, fmt.Sprintf("context switches are missing in %s: of %s nobody knows the state of threads", show.Count(res.Gaps, "place", "places"), show.MS(res.UnknownMS)))
	}
	if res.Folded > 0 {
		facts = append(facts, fmt.Sprintf("the trace has more context switches than there is room for: %s, none longer than %s, have no stack", show.Count(int64(res.Folded), "time off processors", "times off processors"), show.MS(res.FoldedMS)))
	}
	facts = appendForeign(facts, a.Stacks().Misdefined, "the rest")
	list := a.Samples()
	facts[0] += notOver(func(yield func(stacks.Part) bool) {
		for s := range list[0].All() {
			if !yield(stacks.Part{Process: s.Process, Thread: s.Thread, Labels: s.Labels, Values: s.Values}) {
				return
			}
		}
	}, res)
	return Gathered{Samples: list, Facts: facts, callers: res.Samples > 0, Part: func(p *stacks.Profile, _ stacks.Query) []string {
		_, ns := byState(p)
		fact := fmt.Sprintf("threads waited for %s, and were ready to run for %s", show.MS(float64(ns["waiting"])/1e6), show.MS(float64(ns["ready"])/1e6))
		if res.Readies == 0 {
			fact = fmt.Sprintf("threads waited for %s, which includes being ready to run: no event tells it apart", show.MS(float64(lastOf(p.Totals()))/1e6))
		}
		return []string{fact + notOver(slices.Values(p.Parts()), res)}
	}}
}

// notOver says how long waits have lasted that nobody has ended, and which is the longest.
func notOver(parts iter.Seq[stacks.Part], res *threads.Result) string {
	var sum, most int64
	var of stacks.Part
	why := ""
	for p := range parts {
		i := slices.IndexFunc(p.Labels, func(l stacks.Label) bool { return l.Value == threads.NotOver })
		if ns := lastOf(p.Values); i >= 0 {
			if sum += ns; ns > most {
				most, of = ns, p
			}
		}
	}
	if most == 0 {
		return ""
	}
	for _, l := range of.Labels {
		if l.Key == "reason" {
			why = l.Value
		}
	}
	who := fmt.Sprintf("thread %d", of.Thread)
	for i := range res.Threads {
		if t := &res.Threads[i]; t.TID == of.Thread && t.PID == of.Process && t.Process != "" {
			who += " of " + pick.OfProgram(t.PID, t.Process)
			break
		}
	}
	return fmt.Sprintf("; %s of the waits are not over at the end, the longest that of %s (%s), %s", show.MS(float64(sum)/1e6), who, why, show.MS(float64(most)/1e6))
}

// needsOf returns the events to record. Recorders of Windows have samples of their own.
func needsOf(kind *samples.Kind, t *trace.Trace) []need.Need {
	if kind.Name != "cpu" {
		return kind.Needs
	}
	has := func(r trace.Recorder) bool {
		return slices.ContainsFunc(t.Files(), func(f *trace.File) bool { return f.Head().Recorder == r })
	}
	switch {
	case has(trace.Windows):
		return cpu.NeedsKernel
	case has(trace.Linux):
		return cpu.NeedsLinux
	}
	return kind.Needs
}

// WaitingFact explains the frame of threads that wait, where there is one, and the samples of which
// nothing tells whether they wait, where they are most.
func WaitingFact(p *stacks.Profile) []string {
	return slices.Concat(waitingFact(p), unseenFact(p), stoppedFact(p))
}

// stoppedFact says of samples of EventPipe, most of whose threads did not wait, how far the methods can
// be trusted by themselves.
func stoppedFact(p *stacks.Profile) []string {
	if p.Len() == 0 || p.Kind != cpu.ThreadTime {
		return nil
	}
	if running := lastOf(p.Totals()) - lastOf(p.Waiting()); running <= 0 {
		return nil
	}
	return []string{"the runtime's sampler meets threads where they poll or return: a method has time of those that it called just before, too; etw collect --system samples the code itself"}
}

func waitingFact(p *stacks.Profile) []string {
	if p.Len() == 0 {
		return nil
	}
	waiting := lastOf(p.Waiting())
	if waiting <= 0 {
		return nil
	}
	u := unitOf(p.Types[len(p.Types)-1])
	return []string{fmt.Sprintf("%s is %s in which threads waited, and stands last; --as-sampled shows the methods", stacks.WaitingName, u.text(waiting))}
}

// unseenFact looks at all samples.
func unseenFact(p *stacks.Profile) []string {
	if p.Len() == 0 || p.Kind != cpu.ThreadTime {
		return nil
	}
	u, waiting := unitOf(p.Types[len(p.Types)-1]), lastOf(p.Waiting())
	rest := lastOf(p.Totals()) - waiting
	samples, sums := byState(p)
	if 2*sums["external"] <= rest { // which spares a look at all stacks
		return nil
	}
	if unseen := outside(p, work.Default().Classify(p).MayWait); 2*unseen > rest { // rankings are mostly of these
		fact := fmt.Sprintf("%s of the other %s is in native code that the methods called, where threads may have worked or waited: nothing tells which", u.text(unseen), u.text(rest))
		if samples["managed"] > 0 {
			fact += "; --label state=managed leaves the code that ran"
		}
		return []string{fact}
	}
	return nil
}

// outside returns how much the samples of threads in native code weigh that has reports. It asks
// once for each stack.
func outside(p *stacks.Profile, has func(stacks.Sample) bool) (sum int64) {
	labels := []stacks.Label{{Key: "state", Value: "external"}}
	view, err := p.Query(context.Background(), stacks.Query{Labels: labels})
	if err != nil { // which contexts alone cause
		return 0
	}
	for id := range stacks.ID(p.Stacks()) {
		if has(stacks.Sample{Stack: id, Labels: labels}) {
			sum += lastOf(view.Self(id))
		}
	}
	return sum
}
