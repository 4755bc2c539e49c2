// Package analysis answers, in one pass over a trace, the questions that people open a trace
// of .NET for: how long the pauses were, who allocates, the exceptions, the compiled
// methods, the waits of threads. Use it for all of that at once; of one question alone, use
// the package below that answers it.
//
//	res, err := analysis.Run(ctx, source)
//	fmt.Println(res.GC.Runtimes[0].PauseMS)
//
// Each answer has a package of its own, whose analysis registers handlers at a
// [etw.Mux] and gives a result at any time, so that one can be had alone, and from a
// live source. Names in results end in units, and the JSON form of each result is a
// contract with a version.
package analysis

import (
	"context"
	"errors"
	"time"

	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Result has the answers of all analyses.
type Result struct {
	Runtimes   *runtimes.Result   `json:"runtimes"`
	GC         *gc.Result         `json:"gc"`
	Alloc      *alloc.Result      `json:"alloc"`
	JIT        *jit.Result        `json:"jit"`
	Exceptions *exceptions.Result `json:"exceptions"`
	Contention *contention.Result `json:"contention"`
	Waits      *waits.Result      `json:"waits"`
	ThreadPool *threadpool.Result `json:"threadPool"`
	Loader     *loader.Result     `json:"loader"`
	Handles    *handles.Result    `json:"handles"`
	Heap       *heap.Result       `json:"heap"`
	Requests   *requests.Result   `json:"requests"`
	Counters   *counters.Result   `json:"counters"`
	// Timeline is the course of events over time, if [Timeline] asks for it.
	Timeline *timeline.Result `json:"timeline,omitempty"`

	// Warnings name the numbers that mislead, and say why.
	Warnings []string `json:"warnings,omitempty"`
	// Records counts the records that the source delivered, and Undecodable the records that
	// do not fit the events that they claim to be.
	Records     uint64 `json:"records"`
	Undecodable uint64 `json:"undecodable"`
	// Lost is the number of events that were lost when the trace was recorded, if
	// [Losses] tells it. It is a lower bound: of threads that lost all, none knows.
	Lost int64 `json:"lost,omitempty"`
	// Incomplete says which part of the source could not be read.
	Incomplete string `json:"incomplete,omitempty"`

	doubts []string // the warnings of analyses
}

// parts are the analyses, a line for each: its needs, its beginning, and the field of a
// [Result] that its answer is. Handles and heap need nothing here, since that would change the
// program that is watched: it would collect its heap, and write down each object. To ask for
// these as well, name their needs.
var parts = []part{
	of(nil, runtimes.New, func(r *Result) **runtimes.Result { return &r.Runtimes }),
	clipping(gc.Needs, gc.New, func(r *Result) **gc.Result { return &r.GC }),
	of(alloc.Needs, alloc.New, func(r *Result) **alloc.Result { return &r.Alloc }),
	of(jit.Needs, jit.New, func(r *Result) **jit.Result { return &r.JIT }),
	of(exceptions.NeedsHandling, exceptions.New, func(r *Result) **exceptions.Result { return &r.Exceptions }),
	clipping(contention.Needs, contention.New, func(r *Result) **contention.Result { return &r.Contention }),
	clipping(waits.NeedsPool, waits.New, func(r *Result) **waits.Result { return &r.Waits }),
	clipping(threadpool.Needs, threadpool.New, func(r *Result) **threadpool.Result { return &r.ThreadPool }),
	of(loader.Needs, loader.New, func(r *Result) **loader.Result { return &r.Loader }),
	of(nil, handles.New, func(r *Result) **handles.Result { return &r.Handles }),
	of(nil, heap.New, func(r *Result) **heap.Result { return &r.Heap }),
	{requests.Needs, true, true, clipping(nil, requests.New, func(r *Result) **requests.Result { return &r.Requests }).begin},
	of(nil, counters.New, func(r *Result) **counters.Result { return &r.Counters }),
}

// A part is one of the analyses.
type part struct {
	needs []need.Need
	clips bool // it follows the window of its mux
	whole bool // it may choose by itself what it is of
	// begin returns the analysis, and a function that puts its answer where it belongs.
	begin func(*etw.Mux) (any, answer)
}

// An answer puts the answer of an analysis into a result, and returns it.
type answer func(*Result) any

func of[A interface{ Result() R }, R any](needs []need.Need, begin func(*etw.Mux) A, field func(*Result) *R) part {
	return part{needs: needs, begin: func(mux *etw.Mux) (any, answer) {
		a := begin(mux)
		return a, func(r *Result) any {
			*field(r) = a.Result()
			return *field(r)
		}
	}}
}

// clipping is of for an analysis of intervals, of which the part within a window counts.
func clipping[A interface{ Result() R }, R any](needs []need.Need, begin func(*etw.Mux) A, field func(*Result) *R) part {
	p := of(needs, begin, field)
	p.clips = true
	return p
}

// Needs are those of the analyses but for handles and heap, which change the program that
// is watched.
var Needs = func() (list []need.Need) {
	for _, p := range parts {
		list = append(list, p.needs...)
	}
	return list
}()

// A Set is all analyses together.
type Set struct {
	mux, wide *etw.Mux // the same, if of all times
	whole     *etw.Mux // of requests, if some are chosen
	analyses  []any
	inTime    []any // those of them that are at mux
	clips     []any // the others
	answers   []answer
	times     times // of the records given to wide
}

// New returns all analyses, with their handlers registered at mux.
func New(mux *etw.Mux) *Set { return begin(mux, mux, nil) }

// NewWithin returns all analyses of the time from one moment on until before another, of which a zero
// one is no bound. Those of intervals, of which the parts within count, are given the records of all
// times by [Set.Wide], the others those of mux, which are to be of that time.
func NewWithin(mux *etw.Mux, from, to time.Time) *Set {
	return newSet(mux, &options{from: from, to: to})
}

func newSet(mux *etw.Mux, o *options) *Set {
	wide, whole := mux, (*etw.Mux)(nil)
	if !o.from.IsZero() || !o.to.IsZero() {
		wide = new(etw.Mux)
		window.Of(wide).Between(o.from, o.to)
	}
	if o.chosen != nil {
		whole = new(etw.Mux)
		window.Of(whole).Between(o.from, o.to)
	}
	s := begin(mux, wide, whole)
	for _, x := range s.analyses {
		if x, ok := x.(*requests.Analysis); ok && o.chosen != nil {
			x.Choose(o.chosen)
		}
	}
	return s
}

func begin(mux, wide, whole *etw.Mux) *Set {
	defer need.Ask(mux, Needs)()
	s := &Set{mux: mux, wide: wide, whole: whole}
	for _, p := range parts {
		at := mux
		if p.clips {
			at = wide
		}
		if p.whole && whole != nil {
			at = whole
		}
		a, answer := p.begin(at)
		s.analyses, s.answers = append(s.analyses, a), append(s.answers, answer)
		if at == mux {
			s.inTime = append(s.inTime, a)
		} else {
			s.clips = append(s.clips, a)
		}
	}
	return s
}

// Of returns the one of the analyses that has a type, such as [*gc.Analysis], or nil.
func Of[A any](s *Set) (found A) {
	for _, x := range s.analyses {
		if a, ok := x.(A); ok {
			return a
		}
	}
	return found
}

// Wide gives those analyses a record that follow a part of the time. Of one that is not to count
// whatever its time is, some learn which code there is.
func (s *Set) Wide(r *etw.Record, counts bool) error {
	switch {
	case s.wide == s.mux:
		return nil
	case !counts:
		return skip(s.clips, r)
	}
	s.times.see(r)
	return s.wide.Dispatch(r)
}

// Whole gives the analysis of requests a record, where some are [Chosen]: of all times and activities.
func (s *Set) Whole(r *etw.Record) error {
	if s.whole == nil {
		return nil
	}
	return s.whole.Dispatch(r)
}

// Skip gives the other analyses a record that is not to count, such as one outside of the time that
// was asked for: some learn from it which code there is.
func (s *Set) Skip(r *etw.Record) error {
	return skip(s.inTime, r)
}

func skip(list []any, r *etw.Record) error {
	for _, x := range list {
		if x, ok := x.(interface{ Skip(*etw.Record) error }); ok {
			if err := x.Skip(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Result returns the findings so far. It shares no memory that changes with the analyses.
func (s *Set) Result() *Result {
	stats := s.mux.Stats()
	r := &Result{Records: stats.Records, Undecodable: max(stats.Undecodable, s.wide.Stats().Undecodable)}
	for _, answer := range s.answers {
		if x, ok := answer(r).(interface{ Warnings() []string }); ok {
			r.doubts = append(r.doubts, x.Warnings()...)
		}
	}
	r.Warnings = r.warnings()
	return r
}

// An Option tells [Run] more.
type Option func(*options)

type options struct {
	lost    func() int64
	buckets int
	samples func() []*stacks.Samples
	beside  []any
	named   func(*stacks.Samples) *stacks.Profile
	parted  func(*Set)
	from    time.Time
	to      time.Time
	chosen  func(provider, task string, act *requests.Activity) bool
}

// Losses names the function that says, at the end, how many events were lost when
// the trace was recorded. Readers count them in their Stats.
func Losses(lost func() int64) Option { return func(o *options) { o.lost = lost } }

// Timeline adds the course of events to the result, in so many equal buckets from the first
// record to the last. samples returns samples of processors or of threads at the end; it may
// be nil.
func Timeline(buckets int, samples func() []*stacks.Samples) Option {
	return func(o *options) { o.buckets, o.samples = buckets, samples }
}

// Beside has the timeline have lanes of other analyses, too, which are given their records by
// whoever made them.
func Beside(analyses ...any) Option {
	return func(o *options) { o.beside = append(o.beside, analyses...) }
}

// Named has results say, once all is read, which code slept or awaited where of gives call
// stacks names.
func Named(of func(*stacks.Samples) *stacks.Profile) Option {
	return func(o *options) { o.named = of }
}

// Parted tells a source that has a part of a trace alone to which analyses to give the other records:
// see [Set.Skip].
func Parted(tell func(*Set)) Option {
	return func(o *options) { o.parted = tell }
}

// Within has the results be of the time from one moment on until before another, of which a zero one
// is no bound. The source, which is to be [Parted], has the records of that time alone.
func Within(from, to time.Time) Option {
	return func(o *options) { o.from, o.to = from, to }
}

// Chosen has those requests alone count that match is true for, and those within them. The source,
// which is to be [Parted], has the records of threads that worked for them; all go to [Set.Whole].
func Chosen(match func(provider, task string, act *requests.Activity) bool) Option {
	return func(o *options) { o.chosen = match }
}

// Run gives all records of a source to all analyses. A source that is incomplete is no
// error: the result says so. Of another error, there is a result all the same, of the
// records before it.
func Run(ctx context.Context, source etw.Source, opts ...Option) (*Result, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	s := newSet(new(etw.Mux), &o)
	for _, x := range s.analyses {
		if x, ok := x.(interface {
			NameBy(func(*stacks.Samples) *stacks.Profile)
		}); ok && o.named != nil {
			x.NameBy(o.named)
		}
	}
	if o.parted != nil {
		o.parted(s)
	}
	lanes := func(*Result) {}
	if o.buckets > 0 {
		source, lanes = s.timeline(source, &o)
	}
	err := s.mux.Run(ctx, source)
	res := s.Result()
	lanes(res)
	if o.lost != nil {
		res.Lost = o.lost()
	}
	if errors.Is(err, etw.ErrIncomplete) {
		res.Incomplete = err.Error()
		err = nil
	}
	res.Warnings = res.warnings()
	return res, err
}
