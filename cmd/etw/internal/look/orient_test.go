package look

import (
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// TestHeapOffered: other events have the keyword of snapshots, too.
func TestHeapOffered(t *testing.T) {
	for _, id := range []uint16{18, 4} {
		p := &providerCount{Provider: need.CLR, mask: 0x100001, ids: map[uint16]bool{id: true}}
		a := new(show.About)
		orient(a, []*providerCount{p}, "a.nettrace")
		heap := slices.ContainsFunc(a.Next, func(s show.Suggestion) bool { return strings.HasPrefix(s.Command, "etw heap ") })
		if heap != (id == 18) || len(a.Next) == 0 {
			t.Errorf("event %d: %+v", id, a.Next)
		}
	}
}
