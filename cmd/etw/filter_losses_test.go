package main

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestLosses counts the losses of the parts of one session once.
func TestLosses(t *testing.T) {
	one, other := lossOf{clock: etw.Clock{Start: 1}}, lossOf{clock: etw.Clock{Start: 2}}
	l := make(losses)
	l.note(one, 7)
	l.note(one, 7)
	l.note(other, 5)
	if n := l.sum(); n != 12 {
		t.Errorf("%d events lost, want 12", n)
	}
}
