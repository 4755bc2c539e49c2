package methods

import "testing"

// Each part of a trace lists the same methods again.
func TestListedAgain(t *testing.T) {
	var s Spans
	for range 3 {
		for i := range uint64(40) {
			s.Add(1+i*16, 8)
		}
	}
	if len(s) != 40 || !s.Has(1+39*16) || s.Has(10) {
		t.Errorf("%d methods: %v", len(s), s)
	}
}
