package pace

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Where no event tells the interval the times of samples do, of processors that are busy for a part
// of the time, too.
func TestMeasured(t *testing.T) {
	for _, want := range []time.Duration{125 * time.Microsecond, 250 * time.Microsecond, time.Millisecond, 4 * time.Millisecond} {
		for _, busy := range []float64{1, .6, .3} {
			if want > time.Millisecond && busy < 1 {
				continue
			}
			var mux etw.Mux
			p, s, r := Of(&mux), testtrace.NewScript(t, &mux), rand.New(rand.NewPCG(1, 2))
			for i := range 3000 {
				late := time.Duration(r.IntN(8)) * time.Microsecond
				if r.Float64() < busy {
					s.Event(time.Duration(i)*want+late, 9, &kernel.PerfInfoSampleV2{ThreadID: 9})
				}
			}
			if got := time.Duration(p.Now()); got < want-want/25 || got > want+want/25 {
				t.Errorf("%v, busy %v: %v", want, busy, got)
			}
		}
	}
}

// Samples that are seldom tell nothing: an interval that is longer than Windows' own is one of nearly
// all samples.
func TestSeldom(t *testing.T) {
	var mux etw.Mux
	p, s := Of(&mux), testtrace.NewScript(t, &mux)
	for i := range 50 {
		s.Event(time.Duration(i)*10*time.Millisecond, 9, &kernel.PerfInfoSampleV2{ThreadID: 9})
		s.Event(time.Duration(i)*10*time.Millisecond+time.Duration(1+i%7)*time.Millisecond, 9, &kernel.PerfInfoSampleV2{ThreadID: 9})
	}
	if p.Now() != Default {
		t.Errorf("%d", p.Now())
	}
}

// Samples that analyses do not have tell the interval, too, and the whole of a part tells it at once.
func TestSkip(t *testing.T) {
	var mux, others etw.Mux
	p, s, left := Of(&mux), testtrace.NewScript(t, &mux), testtrace.NewScript(t, &others)
	others.HandleRest(func(r *etw.Record) error { p.Skip(r); return nil })
	for i := range 50 {
		to := left
		if i%7 == 0 {
			to = s
		}
		to.Event(time.Duration(i)*250*time.Microsecond, 9, &kernel.PerfInfoSampleV2{ThreadID: 9})
		to.Event(time.Duration(i)*250*time.Microsecond+1000, 9, &kernel.PerfInfoCollectionEndV3{NewInterval: 0})
	}
	if p.Before() != 250e3 || p.Measured() != 250e3 {
		t.Errorf("%d, %d", p.Before(), p.Measured())
	}
	p.Suppose(125e3)
	if p.Before() != 125e3 || p.Now() != 125e3 || p.Told() != 0 {
		t.Errorf("supposed: %d, %d, %d", p.Before(), p.Now(), p.Told())
	}
	s.Event(time.Second, 9, &kernel.PerfInfoCollectionEndV3{NewInterval: 5000})
	if p.Before() != 500e3 || p.Now() != 500e3 {
		t.Errorf("told: %d, %d", p.Before(), p.Now())
	}
}

// The first event that tells the interval tells that before it.
func TestTold(t *testing.T) {
	for _, x := range []struct {
		e   etw.Event
		now int64
	}{
		{&kernel.PerfInfoCollectionEndV3{NewInterval: 2500}, 250e3},
		{&kernel.PerfInfoCollectionStartV3{NewInterval: 2500}, 250e3},
		{&kernel.PerfInfoSetIntervalV2{NewInterval: 10000, OldInterval: 2500}, 1e6},
	} {
		var mux etw.Mux
		p, s := Of(&mux), testtrace.NewScript(t, &mux)
		s.Event(0, 9, x.e)
		s.Event(0, 9, &kernel.PerfInfoSetIntervalV2{Source: kernel.ProfileSourceProfileTotalIssues, NewInterval: 7})
		if p.Before() != 250e3 || p.Now() != x.now || p.Told() != x.now {
			t.Errorf("%T: %d, %d", x.e, p.Before(), p.Now())
		}
	}
}

// As many gaps as there are do not take more room than for most of them.
func TestRoom(t *testing.T) {
	var g gaps
	for i := range int64(10 * most) {
		g.add(9e5 + i%1000)
	}
	if len(g.list) > most {
		t.Errorf("%d are kept", len(g.list))
	}
	if m := g.interval(); m < 900450 || m > 900550 {
		t.Errorf("the interval is %d", m)
	}
}
