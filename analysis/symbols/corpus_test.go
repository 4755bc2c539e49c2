package symbols

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/runtime/etw"
)

// frames counts the frames of all stacks of a trace, and those with a name.
func frames(tb testing.TB, path string) (all, named, guessed int) {
	tb.Helper()
	var mux etw.Mux
	a := New(&mux)
	type stack struct {
		pid, at int64
		stack   etw.Stack
	}
	var stacks []stack
	for r, err := range etw.Records(testtrace.Open(tb, path)) {
		if err != nil {
			if !testtrace.Incomplete(err) {
				tb.Fatalf("%s: %v", path, err)
			}
			continue
		}
		if err := mux.Dispatch(r); err != nil {
			tb.Fatal(err)
		}
		if r.Stack.Len() > 0 {
			stacks = append(stacks, stack{r.ProcessID, when.Of(r), r.Clone().Stack})
		}
	}
	table := a.Table()
	for _, s := range stacks {
		for i := range s.stack.Len() {
			all++
			address := s.stack.At(i)
			if i > 0 {
				address--
			}
			loc := table.Lookup(s.pid, address, time.Unix(0, s.at))
			if m := loc.Method(); m.Named() {
				named++
				if loc.Guess {
					guessed++
				}
			}
		}
	}
	return all, named, guessed
}

// large traces take seconds, and show nothing that others do not: they are for when
// all is asked for.
func large(path string) bool {
	return os.Getenv("ETWGEN_CONFORMANCE") != "all" && (strings.HasSuffix(path, ".gz") || strings.Contains(path, "dotnetcore3.0"))
}

// TraceEvent names the frames of these traces as far as they can be named without
// files: no fewer have names here. Where it reads fewer stacks, it leaves out those of
// the runtime's own events of symbols, or drops events.
func TestFramesNamed(t *testing.T) {
	traces, total, guesses := 0, 0, 0
	for _, path := range testtrace.All(t) {
		var peer struct {
			Stacks struct {
				All struct{ Frames, FramesNamed int }
			}
		}
		if large(path) || !testtrace.Peer(t, path, &peer) || strings.HasPrefix(testtrace.Name(path), "v6-") {
			continue
		}
		all, named, guessed := frames(t, path)
		if want := peer.Stacks.All; all < want.Frames || named < want.FramesNamed {
			t.Errorf("%s: %d of %d frames have names; TraceEvent has %d of %d", testtrace.Name(path), named, all, want.FramesNamed, want.Frames)
		}
		traces, total, guesses = traces+1, total+all, guesses+guessed
	}
	t.Logf("%d traces, %d frames, %d guessed", traces, total, guesses)
}
