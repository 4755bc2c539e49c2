// Package analysis answers, in one pass over a trace, what people open a trace of .NET
// for: how long the pauses were, who allocates, what is thrown, what is compiled, what
// threads wait for. Use it for all of that at once; of one question alone, use the
// package below that answers it.
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
	"slices"

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
	// Timeline is what happened when, if [Timeline] asks for it.
	Timeline *timeline.Result `json:"timeline,omitempty"`

	// Warnings say which numbers are not what they seem.
	Warnings []string `json:"warnings,omitempty"`
	// Records counts what the source delivered, and Undecodable the records that do
	// not fit the events that they claim to be.
	Records     uint64 `json:"records"`
	Undecodable uint64 `json:"undecodable"`
	// Lost is the number of events that were lost when the trace was recorded, if
	// [Losses] tells it. It is a lower bound: of threads that lost all, none knows.
	Lost int64 `json:"lost,omitempty"`
	// Incomplete says what of the source could not be read.
	Incomplete string `json:"incomplete,omitempty"`
}

// A Set is all analyses together.
type Set struct {
	mux        *etw.Mux
	runtimes   *runtimes.Analysis
	gc         *gc.Analysis
	alloc      *alloc.Analysis
	jit        *jit.Analysis
	exceptions *exceptions.Analysis
	contention *contention.Analysis
	waits      *waits.Analysis
	threadpool *threadpool.Analysis
	loader     *loader.Analysis
	handles    *handles.Analysis
	heap       *heap.Analysis
	requests   *requests.Analysis
	counters   *counters.Analysis
}

// Needs are those of the analyses but for handles and heap, which change the program that
// is watched: it would collect its heap, and write down each object. To ask for these as
// well, name what they need.
var Needs = slices.Concat(gc.Needs, alloc.Needs, jit.Needs, exceptions.NeedsHandling, contention.Needs, waits.NeedsPool,
	threadpool.Needs, loader.Needs, requests.Needs)

// New returns all analyses, with their handlers registered at mux.
func New(mux *etw.Mux) *Set {
	defer need.Ask(mux, Needs)()
	return &Set{
		mux:        mux,
		runtimes:   runtimes.New(mux),
		gc:         gc.New(mux),
		alloc:      alloc.New(mux),
		jit:        jit.New(mux),
		exceptions: exceptions.New(mux),
		contention: contention.New(mux),
		waits:      waits.New(mux),
		threadpool: threadpool.New(mux),
		loader:     loader.New(mux),
		handles:    handles.New(mux),
		heap:       heap.New(mux),
		requests:   requests.New(mux),
		counters:   counters.New(mux),
	}
}

// Result returns what is known so far. It shares no memory that changes with the
// analyses.
func (s *Set) Result() *Result {
	stats := s.mux.Stats()
	r := &Result{
		Runtimes: s.runtimes.Result(), GC: s.gc.Result(), Alloc: s.alloc.Result(), JIT: s.jit.Result(),
		Exceptions: s.exceptions.Result(), Contention: s.contention.Result(), Waits: s.waits.Result(),
		ThreadPool: s.threadpool.Result(), Loader: s.loader.Result(), Handles: s.handles.Result(), Heap: s.heap.Result(),
		Requests: s.requests.Result(), Counters: s.counters.Result(),
		Records: stats.Records, Undecodable: stats.Undecodable,
	}
	r.Warnings = warnings(r)
	return r
}

// An Option tells [Run] more.
type Option func(*options)

type options struct {
	lost    func() int64
	buckets int
	samples func() []*stacks.Samples
}

// Losses names the function that says, at the end, how many events were lost when
// the trace was recorded. Readers count them in their Stats.
func Losses(lost func() int64) Option { return func(o *options) { o.lost = lost } }

// Timeline has the result say what happened when, in so many equal buckets from the first
// record to the last. samples returns samples of processors or of threads at the end; it
// may be nil.
func Timeline(buckets int, samples func() []*stacks.Samples) Option {
	return func(o *options) { o.buckets, o.samples = buckets, samples }
}

// Run gives all records of a source to all analyses. A source that is incomplete is
// no error: the result says so. Of another error, there is a result all the same,
// of what came before it.
func Run(ctx context.Context, source etw.Source, opts ...Option) (*Result, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	var mux etw.Mux
	s := New(&mux)
	lanes := func(*Result) {}
	if o.buckets > 0 {
		source, lanes = s.timeline(source, &o)
	}
	err := mux.Run(ctx, source)
	res := s.Result()
	lanes(res)
	if o.lost != nil {
		res.Lost = o.lost()
	}
	if errors.Is(err, etw.ErrIncomplete) {
		res.Incomplete = err.Error()
		err = nil
	}
	res.Warnings = warnings(res)
	return res, err
}
