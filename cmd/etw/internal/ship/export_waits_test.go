package ship

import (
	"math"
	"testing"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// TestTellCauses: activities say as they end what the table says once all is read, and those that
// were held do, too.
func TestTellCauses(t *testing.T) {
	for _, path := range corpus.Glob(t, "causes/web-net10-ds.nettrace.gz") {
		tr := testio.Open(t, trace.Open, path)
		defer tr.Close()
		var mux etw.Mux
		code := frames.NewCodeMap(nil)
		all, a, late, many := requests.New(&mux), requests.New(&mux), requests.New(&mux), requests.New(&mux)
		all.Keep(math.MaxInt / 2)
		for _, x := range []*requests.Analysis{all, late, many} {
			x.NameBy(func(s *stacks.Samples) *stacks.Profile { return code.Below("", s) })
		}
		late.Tell()
		late.Hold(math.MaxInt)
		many.Hold(1)
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		if err := tellCauses(a, cmd, new(pick.Input), path, tr); err != nil {
			t.Fatal(err)
		}
		got, held, want := requests.Causes{}, requests.Causes{}, requests.Causes{}
		add := func(sum, c *requests.Causes) {
			if c != nil {
				sum.RunningMS, sum.BlockedMS = sum.RunningMS+c.RunningMS, sum.BlockedMS+c.BlockedMS
			}
		}
		a.OnEnd(func(_ int64, _, _ string, act requests.Activity) { add(&got, act.Causes) })
		late.OnEnd(func(_ int64, _, _ string, act requests.Activity) { add(&held, act.Causes) })
		many.OnEnd(func(int64, string, string, requests.Activity) { t.Error("an activity of more than may be held") })
		for rec := range testio.Records(t, tr.Records()) {
			_ = code.Mux.Dispatch(rec)
			_ = mux.Dispatch(rec)
		}
		if held != (requests.Causes{}) {
			t.Error("held activities end before all is read")
		}
		if !late.Release() || many.Release() || held != got {
			t.Errorf("%+v of held activities, %+v as they end", held, got)
		}
		for _, task := range all.Result().Processes[0].Tasks {
			for _, act := range task.Slowest {
				add(&want, act.Causes)
			}
		}
		if math.Abs(got.RunningMS-want.RunningMS) > 1e-6 || math.Abs(got.BlockedMS-want.BlockedMS) > 1e-6 || want.BlockedMS < 1 {
			t.Errorf("%v ms running and %v blocked as they end, %v and %v in the table", got.RunningMS, got.BlockedMS, want.RunningMS, want.BlockedMS)
		}
	}
}
