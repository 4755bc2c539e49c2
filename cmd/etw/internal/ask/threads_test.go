package ask

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/threads"
)

// TestThreadsSampled: where samples say that threads ran much less than context switches do,
// rests are missing, and where they say that they ran much longer, the time of switching is;
// the answer says so, and nothing of chance.
func TestThreadsSampled(t *testing.T) {
	for _, test := range []struct {
		samples, interval int64
		said              bool
	}{{2464, 1e6, true}, {3500, 1e6, false}, {3300, 1e6, false}, {0, 1e6, false}, {2464, 0, false}, {3900, 1e6, false}, {4000, 1e6, true}, {352, 10e6, false}} {
		res := &threadsResult{interval: test.interval, Switched: &threads.Result{Samples: test.samples, Threads: make([]threads.Thread, 10)}}
		res.Switched.RunningMS = 3538
		said := strings.Contains(strings.Join(res.Warnings(), "\n"), "by samples threads ran for ")
		if said != test.said {
			t.Errorf("%d samples %d ns apart: %q", test.samples, test.interval, res.Warnings())
		}
	}
}

// Where hardly any sample is managed, the answer says that the runtime may not tell it.
func TestThreadsUntold(t *testing.T) {
	for _, test := range []struct {
		samples, managed int
		said             bool
	}{{45793, 11, true}, {47139, 1303, false}, {400, 0, false}} {
		res := &threadsResult{Sampled: &cpu.Result{Samples: test.samples, Managed: test.managed}}
		if list := res.Warnings(); (len(list) == 1) != test.said {
			t.Errorf("%d of %d: %q", test.managed, test.samples, list)
		}
	}
}
