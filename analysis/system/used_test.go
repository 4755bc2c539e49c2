package system

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/measure"
)

// The processor time is that between context switches where these tell it, and otherwise that
// of samples.
func TestUsedProcessors(t *testing.T) {
	sampled := ProcessFacts{PID: 2, SampledMS: measure.Known(3)}
	ran := sampled
	ran.RanMS = measure.Known(2.5)
	for _, x := range []struct {
		name    string
		process ProcessFacts
		result  Result
		want    float64
	}{
		{"switches and samples", ran, Result{Samples: 3, Switches: 9}, 2.5},
		{"switches that miss some", ran, Result{Samples: 3, Switches: 9, Gaps: 1}, 3},
		{"switches that tell no time", sampled, Result{Samples: 3, Switches: 9}, 3},
		{"samples", sampled, Result{Samples: 3}, 3},
	} {
		x.result.Processes = []ProcessFacts{x.process}
		u := Used{Result: &x.result, Files: new(FilesResult), Network: new(NetworkResult)}
		for _, pid := range []int64{2, -1} {
			if ms, _, _ := u.Of(pid); ms.IsZero() || ms.Or(0) != x.want {
				t.Errorf("%s: of %d %v, want %v", x.name, pid, ms, x.want)
			}
		}
	}
}

// Idling is no work of the machine. Processes outside of a recorder's namespace are.
func TestUsedIdle(t *testing.T) {
	for name, want := range map[string]float64{"Idle": 3, "": 3, OutsideName: 10} {
		u := Used{Result: &Result{Samples: 10, Processes: []ProcessFacts{
			{PID: 0, Name: name, SampledMS: measure.Known(7)}, {PID: 2, SampledMS: measure.Known(3)},
		}}, Files: new(FilesResult), Network: new(NetworkResult)}
		if ms, _, _ := u.Of(-1); ms.Or(0) != want {
			t.Errorf("process 0 is %q: %v ms, want %v", name, ms, want)
		}
	}
}
