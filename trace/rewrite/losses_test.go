package rewrite

import (
	"fmt"
	"strings"
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

// TestLossTables counts the losses of a file's parts once, and those of a session's files
// all together.
func TestLossTables(t *testing.T) {
	var l lossTables
	for _, threads := range []map[int64]int64{{7: 3, 8: 4}, {7: 3, 8: 4}, {7: 5}, {}, {9: 0}} {
		l.note(lossTable{clock: etw.Clock{Start: 1}, process: 2, threads: threads})
	}
	l.note(lossTable{clock: etw.Clock{Start: 2}, process: 2, threads: map[int64]int64{7: 5}})
	sum := int64(0)
	for _, table := range l {
		for _, n := range table.threads {
			sum += n
		}
	}
	if len(l) != 3 || sum != 17 {
		t.Errorf("%d events lost in %d tables, want 17 in 3", sum, len(l))
	}
}

// TestNames: a header has the names of all sessions, each once, as far as there is room.
func TestNames(t *testing.T) {
	var n names
	for _, name := range []string{"kernel", "", "user", "kernel"} {
		n.add(name)
	}
	if got := n.String(); got != "kernel; user" {
		t.Errorf("%q", got)
	}
	for i := range 1000 {
		n.add(fmt.Sprintf("session %d", 100+i))
	}
	if got := n.String(); len(got) > mostText+20 || !strings.HasSuffix(got, " more") || (names)(nil).String() != "" {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
