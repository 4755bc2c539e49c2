package trace

import (
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// asOne is how far the accounts of two recordings of one clock are apart at most: a file of
// EventPipe tells the time of day to the millisecond, without the rest.
const asOne = 2 * 10_000 // of a FileTime

// shareClocks has files whose ticks are of one clock of one machine, as far as they tell the
// time of day, have one clock. Else two recorders of one moment would be up to a millisecond
// apart. The latest account is the nearest, since rests are cut off.
func shareClocks(files []*File) {
	for i, f := range files {
		if f.shared != nil || f.Clock().Origin == 0 {
			continue
		}
		one, together := f.Clock(), []*File{f}
		for _, g := range files[i+1:] {
			c := g.Clock()
			apart := between100(one, c)
			if g.shared != nil || c.Origin == 0 || c.Frequency != one.Frequency || apart < -asOne || apart > asOne {
				continue
			}
			together = append(together, g)
			if c.Origin < one.Origin {
				c.Start += etw.FileTime(max(-apart, 0))
				one = c
			} else {
				one.Start += etw.FileTime(max(apart, 0))
			}
		}
		if len(together) == 1 {
			continue
		}
		for _, g := range together {
			g.own, g.shared = g.Clock(), &one
		}
	}
}

// between100 returns by how much c says that a tick is later than one says, in units of 100 ns.
func between100(one, c etw.Clock) int64 { return int64(c.FileTime(one.Origin) - one.Start) }

// between returns the time from a to b.
func between(a, b etw.FileTime) time.Duration { return time.Duration(b-a) * 100 }
