package code

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/html"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// callTree returns the call tree of a profile as pages show it, with the last value of its
// samples as the weight. A profile of two traces has the earlier weight as its first value.
func callTree(p *stacks.Profile, compared bool) *html.Flame {
	f, _ := callTreeOf(p, compared)
	return f
}

// callTreeOf is callTree that also returns the index of the call of each stack.
func callTreeOf(p *stacks.Profile, compared bool) (*html.Flame, []int) {
	value := len(p.Types) - 1
	u := unitOf(p.Types[value])
	f := &html.Flame{What: titleOf(p), Unit: strings.TrimSuffix(p.Types[value].Name, " after")}
	switch u.suffix {
	case "Ms":
		f.Unit = "ms"
	case "MB":
		f.Unit = "MB"
	}
	for i := range p.Frames {
		fr := &p.Frames[i]
		f.Frames = append(f.Frames, html.Frame{Name: fr.Name, Full: fr.Full, Group: pick.BaseName(fr.Module), Waiting: fr.Waiting})
	}
	weights := make([]weighed, p.Stacks())
	for s := range p.Samples() {
		weights[s.Stack].now += float64(s.Values[value]) / u.per
		if compared {
			weights[s.Stack].before += float64(s.Values[0]) / u.per
		}
	}
	list, index := calls(p, weights)
	f.Calls, f.Compared = list, compared
	return f, index
}

// titleOf names the measure of samples, as the begin of a sentence.
func titleOf(p *stacks.Profile) string { return strings.ToUpper(p.Kind[:1]) + p.Kind[1:] }

// A weighed is the weight of a stack, and its weight before.
type weighed struct{ now, before float64 }

// calls returns those stacks of a profile that weigh anything, as calls, and the index of
// each stack.
func calls(p *stacks.Profile, weights []weighed) ([]html.Call, []int) {
	used := make([]bool, len(weights))
	for id := len(weights) - 1; id > 0; id-- { // callers have smaller numbers
		if used[id] = used[id] || weights[id] != (weighed{}); used[id] {
			caller, _ := p.Split(stacks.ID(id))
			used[caller] = true
		}
	}
	index := make([]int, len(weights))
	index[0] = -1
	var list []html.Call
	for id := 1; id < len(weights); id++ {
		if !used[id] {
			continue
		}
		caller, frame := p.Split(stacks.ID(id))
		index[id] = len(list)
		list = append(list, html.Call{Caller: index[caller], Frame: frame, Self: weights[id].now, Before: weights[id].before})
	}
	return list, index
}

// A Sampler collects the call stacks of threads for a report.
type Sampler struct {
	samples etw.Mux
	code    *frames.CodeMap
	finish  func() Gathered
	skip    *samples.Processors
	Parted  bool      // skip is to have what --activity or --during leaves out
	Some    bool      // it has samples of some processes or threads alone
	found   *Gathered // once all was read
	named   *stacks.Profile
	within  stacks.Query
	left    int // processes without call trees
	origin  time.Time
	// Machine tells the processes apart that had a number in turn.
	Machine *system.Machine
}

// NewSampler returns a sampler of a part of the time of a trace, of which a zero end is no bound, with
// files of symbols. It is to take the records of all times, which tell how far samples are apart.
func NewSampler(t *trace.Trace, files *native.Dir, from, to time.Time) *Sampler {
	s := &Sampler{code: frames.NewCodeMap(files), within: stacks.Query{From: from, To: to}, origin: t.Start()}
	processors := startProcessors(&s.samples, t)
	s.finish, s.skip = func() Gathered { return Gather(processors) }, processors
	return s
}

// Take takes a record, of which the names of code are learnt also if nothing else of it is
// wanted.
func (s *Sampler) Take(r *etw.Record, wanted bool) error {
	if err := s.code.Mux.Dispatch(r); err != nil {
		return err
	}
	if !wanted {
		s.skip.Skip(r, s.Parted)
		return nil
	}
	return s.samples.Dispatch(r)
}

// Names names the code of samples, when all records were taken.
func (s *Sampler) Names(list *stacks.Samples) *stacks.Profile { return s.code.Below("", list) }

// maxProfiles is how many processes of a report have call trees: those with most
// samples.
const maxProfiles = 10

// Gathered returns the samples, when all records were taken.
func (s *Sampler) Gathered() []*stacks.Samples {
	if s.found == nil {
		found := s.finish()
		s.found = &found
	}
	return s.found.Samples
}

// profile returns the profile of the samples, or nil if there are none.
func (s *Sampler) profile() *stacks.Profile {
	if samples := s.Gathered(); s.named == nil && len(samples) > 0 {
		s.named = Within(stacks.NewProfile(s.code.Code.Table(), stacks.Options{Names: stacks.QualifiedNames, Native: s.code.Native}, samples...), s.within)
	}
	return s.named
}

// A sampled is a process that was sampled: one of those that had its number in turn.
type sampled struct {
	pid  int64
	life int
}

// owner returns the process of a sample.
func (s *Sampler) owner(x stacks.Sample) sampled {
	return sampled{x.Process, s.Machine.LifeAt(x.Process, float64(x.Time-s.origin.UnixNano())/1e6)}
}

// name returns the name of a process, if several had its number.
func (s *Sampler) name(x sampled) (name string, several bool) {
	if list := s.Machine.Lives(x.pid); len(list) > 1 {
		return list[x.life].Called(), true
	}
	return "", false
}

// byProcess returns the profiles of the processes that were sampled most.
func (s *Sampler) byProcess() iter.Seq2[sampled, *stacks.Profile] {
	return func(yield func(sampled, *stacks.Profile) bool) {
		all := s.profile()
		if all == nil {
			return
		}
		counts := make(map[sampled]int)
		for x := range all.Samples() {
			counts[s.owner(x)]++
		}
		pids := slices.Collect(maps.Keys(counts))
		order.Sort(pids, func(a, b sampled) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.pid, b.pid), cmp.Compare(a.life, b.life))
		})
		s.left = max(len(pids)-maxProfiles, 0)
		for _, pid := range pids[:min(len(pids), maxProfiles)] {
			of := all
			if len(pids) > 1 {
				of = all.Only(func(x stacks.Sample) bool { return x.Process == pid.pid && s.owner(x) == pid })
			}
			if !yield(pid, of) {
				return
			}
		}
	}
}

// lived returns the query for the samples of a process.
func (s *Sampler) lived(x sampled) stacks.Query {
	q := s.within
	q.Processes = []int64{x.pid}
	list := s.Machine.Lives(x.pid)
	begins := func(p *system.Process) time.Time {
		return s.origin.Add(time.Duration(s.Machine.MS(p.Start) * 1e6))
	}
	if x.life > 0 && list[x.life].Started && begins(list[x.life]).After(q.From) {
		q.From = begins(list[x.life])
	}
	if x.life+1 < len(list) {
		if next := list[x.life+1]; next.Started && (q.To.IsZero() || begins(next).Before(q.To)) {
			q.To = begins(next)
		}
	}
	return q
}

// Profiles returns the call trees of the processes that were sampled. They say when their
// samples were if there is a timeline, whose session began at origin, in nanoseconds since
// 1970.
func (s *Sampler) Profiles(when *timeline.Result, origin int64) []html.Profile {
	var list []html.Profile
	for pid, p := range s.byProcess() {
		tree, index := callTreeOf(p, false)
		tree.Samples, tree.Percent, tree.Found = p.Len(), s.percentOf(p), stuck(p)
		facts := s.found.about(s.named)
		if isCut(s.within) {
			facts = s.found.Part(s.named, s.within)
		}
		if p != s.named {
			q := s.lived(pid)
			facts = append(s.found.Part(p, q), Prefixed("of all processes: ", facts[1:])...)
		}
		unseen := unseenFact(p)
		tree.Lead, tree.MayWait = slices.Concat(facts, waitingFact(p), unseen, stoppedFact(p), p.Rest().Warnings()), len(unseen) > 0
		tree.ByRuntime = len(stoppedFact(p)) > 0
		if when != nil {
			tree.Times = timesOf(p, index, when, origin)
		}
		name, several := s.name(pid)
		list = append(list, html.Profile{PID: pid.pid, Life: pid.life, Several: several, Name: name, Flame: tree})
	}
	return list
}

// Shown says of which processes there are call trees, if not of all.
func (s *Sampler) Shown() string {
	if s.left == 0 {
		return ""
	}
	return fmt.Sprintf("of the %d processes with most samples; %s with fewer have none: --process shows one", maxProfiles, show.Count(s.left, "process", "processes"))
}

// Findings names the methods in which most time was spent, and threads that waited all the time.
func (s *Sampler) Findings() []findings.Finding {
	var list []findings.Finding
	most := 0
	for pid, p := range s.byProcess() {
		found, top := stuck(p), p.View().Top()
		if most = max(most, p.Len()); len(top) > 0 && !findings.Few(p.Len(), most) {
			found = append(found, findings.Code(findings.OfAll(titleOf(p), s.percentOf(p)), p.Frames[top[0].Frame].Name, float64(lastOf(top[0].Self)), float64(lastOf(p.Totals())), float64(lastOf(p.Waiting())), len(unseenFact(p)) > 0, len(stoppedFact(p)) > 0)...)
		}
		for _, f := range found {
			f.PID, f.Life = pid.pid, pid.life
			f.Process, _ = s.name(pid)
			list = append(list, f)
		}
	}
	return list
}

// percentOf returns the weight of a process of that of all, or 0 if there are no others here.
func (s *Sampler) percentOf(p *stacks.Profile) float64 {
	if p == s.named || s.Some {
		return 0
	}
	return 100 * float64(lastOf(p.Totals())) / float64(max(lastOf(s.named.Totals()), 1))
}

// The times of call trees: at first so many buckets, and then fewer, until there are not
// more parts than a page can do with.
const (
	treeBuckets = 512
	mostParts   = 150_000
)

// timesOf returns the weights of the calls of a profile over time. index has the call of
// each stack.
func timesOf(p *stacks.Profile, index []int, when *timeline.Result, origin int64) *html.Times {
	value := len(p.Types) - 1
	u := unitOf(p.Types[value])
	type key struct{ bucket, call int }
	for buckets := treeBuckets; ; buckets /= 2 {
		t := &html.Times{FromMS: when.FromMS, BucketMS: (when.ToMS - when.FromMS) / float64(buckets)}
		sums := make(map[key]float64)
		for s := range p.Samples() {
			ms := float64(s.Time-origin) / 1e6
			k := key{min(max(int((ms-t.FromMS)/t.BucketMS), 0), buckets-1), index[s.Stack]}
			sums[k] += float64(s.Values[value]) / u.per
		}
		if len(sums) > mostParts && buckets > 1 {
			continue
		}
		for k, v := range sums {
			if v != 0 {
				t.Parts = append(t.Parts, html.Part{Bucket: k.bucket, Call: k.call, Self: v})
			}
		}
		order.Sort(t.Parts, func(a, b html.Part) int { return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Call, b.Call)) })
		return t
	}
}
