package profiling

import (
	"context"
	"time"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/spans"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// sampler is the name of the provider of samples of threads.
var sampler = cpu.Needs[0].Provider

// A window is some time in which the threads of a process are sampled.
type window struct {
	samples []*stacks.Samples
	period  int64
	long    time.Duration
	more    float64 // processors that the process took more than before
	known   bool
	dropped int64
	lost    int64
	bytes   int64
	spans   *spans.Analysis
}

// windowBytes is how much a window has at most, and a little that is on its way then: together
// less than a megabyte.
const windowBytes = 800 << 10

// sample has a window of a process, as long as it may be.
func (r *run) sample(ctx context.Context, long time.Duration, before float64, known bool) (*window, error) {
	var mux etw.Mux
	times := cpu.New(&mux)
	gc.New(&mux) // which asks for the pauses that samples have to leave out
	w := new(window)
	list := append(Providers(cpu.Needs), Providers(gc.Needs)...)
	if r.m.o.Spans && r.p.Version >= 6 {
		w.spans = spans.New(&mux)
		list = append(list, Providers(spans.Needs)...)
	}
	full := make(chan struct{})
	left := r.m.o.maxSamples()
	f, err := follow(ctx, r.p.Client, eventpipe.Config{BufferMB: r.m.o.BufferMB, Providers: eventpipe.Merge(list)}, func(rec *etw.Record) error {
		if rec.ProviderName == sampler {
			if left--; left < 0 {
				w.dropped++
				return nil
			} else if left == 0 {
				close(full)
			}
		}
		return mux.Dispatch(rec)
	})
	if err != nil {
		return nil, err
	}
	r.load.since(time.Now())
	begun := time.Now()
	t, size := time.NewTimer(long), time.NewTicker(leastWindow/8)
	defer t.Stop()
	defer size.Stop()
	for goesOn := true; goesOn; {
		select {
		case <-size.C:
			goesOn = f.session.Received() < windowBytes
			continue
		case <-t.C:
		case <-full:
		case <-f.done:
		case <-ctx.Done():
		}
		goesOn = false
	}
	w.long = time.Since(begun)
	during, ok := r.load.since(time.Now())
	w.more, w.known = during-before, ok && known
	stop := ctx
	if ctx.Err() != nil { // the samples so far are still wanted
		stop = context.WithoutCancel(ctx)
	}
	err = f.end(stop)
	w.lost, w.bytes = f.news()
	if w.spans != nil {
		w.spans.Finish()
	}
	w.samples, w.period = times.Samples(), times.Result().Interval()
	return w, err
}
