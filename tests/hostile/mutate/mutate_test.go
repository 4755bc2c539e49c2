package mutate

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// made returns the traces that Made makes, or fails the test.
func made(t *testing.T) []*Trace {
	t.Helper()
	traces, err := Made()
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// TestMapsCoverTheFile checks that the parts lie back to back.
func TestMapsCoverTheFile(t *testing.T) {
	seen := map[Format]bool{}
	for _, tr := range made(t) {
		seen[tr.Format] = true
		at := tr.Head
		for _, p := range tr.Parts {
			if p.Start != at || p.Body <= p.Start || p.End < p.Body {
				t.Fatalf("%s: part %+v begins after byte %d", tr.Name, p, at)
			}
			at = p.End
		}
		// A null tag or an empty block ends the stream.
		if rest := len(tr.Data) - at; rest > 4 || tr.Format.IsETL() && rest > 0 {
			t.Errorf("%s: %d bytes are in no part", tr.Name, rest)
		}
	}
	if len(seen) != 5 {
		t.Errorf("traces were made of %d formats, want 5", len(seen))
	}
}

// TestTouched checks that a mutant is as the trace was, outside of the range that it names.
func TestTouched(t *testing.T) {
	for _, tr := range made(t) {
		for _, m := range Mutations {
			changed := false
			for i := range 50 {
				r := rand.New(rand.NewPCG(1, uint64(i)))
				mutant := m.Apply(r, tr, nil)
				changed = changed || !bytes.Equal(mutant.Data, tr.Data)
				for _, p := range tr.Parts {
					if !p.Touches(mutant.Touched) && !bytes.Contains(mutant.Data, tr.Data[p.Start:p.End]) {
						t.Fatalf("%s: %s: part %+v is not there as it was, but only %v were touched", tr.Name, m.Name, p, mutant.Touched)
					}
				}
			}
			if !changed {
				t.Errorf("%s: %s changes nothing", tr.Name, m.Name)
			}
		}
	}
}

// TestNoMap checks that damaged or foreign files are not mapped.
func TestNoMap(t *testing.T) {
	for _, tr := range made(t) {
		if New("cut", tr.Data[:tr.Parts[0].Body+1]) != nil {
			t.Errorf("%s: mapped though cut off", tr.Name)
		}
	}
	if New("text", []byte("hello, world")) != nil {
		t.Error("a text is mapped")
	}
}
