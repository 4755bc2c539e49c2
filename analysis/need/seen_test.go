package need

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Events of several keywords come by any of them, and those of a level show that it was
// recorded, and no higher one.
func TestRecorded(t *testing.T) {
	const collections, threads = 0x1, 0x10000
	gcs := Need{What: "collections", Provider: CLR, Keywords: collections, Level: etw.LevelInformational}
	ticks := Need{What: "allocations", Provider: CLR, Keywords: collections, Level: etw.LevelVerbose}
	both := Need{What: "both", Provider: CLR, Keywords: collections | threads, Level: etw.LevelInformational}
	for _, c := range []struct {
		what     string
		level    etw.Level
		keywords uint64
		want     [3]bool // of gcs, ticks and both
	}{
		{"one keyword", etw.LevelInformational, collections, [3]bool{true, false, false}},
		{"for a log of Windows", etw.LevelInformational, 1<<63 | collections, [3]bool{true, false, false}},
		{"a higher level", etw.LevelVerbose, collections, [3]bool{true, true, false}},
		{"a lower level", etw.LevelWarning, collections, [3]bool{}},
		{"two keywords", etw.LevelVerbose, collections | threads, [3]bool{}},
		{"another keyword", etw.LevelVerbose, threads, [3]bool{}},
	} {
		needs := []Need{gcs, ticks, both}
		s := Follow(needs)
		s.See(&etw.Record{Provider: gcs.guid(), Level: c.level, Keywords: c.keywords})
		for i := range needs {
			if got := s.Recorded(&needs[i]); got != c.want[i] {
				t.Errorf("%s: %s recorded: %v", c.what, needs[i].What, got)
			}
		}
	}
}
