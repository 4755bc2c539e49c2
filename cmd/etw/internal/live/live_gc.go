package live

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/gc"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/cmd/etw/internal/ask"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// recentPauses is of how many collections percentiles are.
const recentPauses = 10_000

// WithCollections has the command about collections print those of a live process.
func WithCollections(q *ask.Question) *cobra.Command {
	m := &liveMode{run: func(cmd *cobra.Command, m *liveMode) error { return watchGCs(cmd, m, &q.Out) }}
	return m.add(q.Command())
}

// watchGCs prints a line for each collection of a live process as it ends.
func watchGCs(cmd *cobra.Command, m *liveMode, out *show.Output) error {
	if err := out.Check(cmd); err != nil {
		return err
	}
	profile, _ := eventpipe.FindProfile("gc-collect")
	p := out.Open(cmd, true)
	s := pick.NewStream(p, collectionColumns()...)
	followed := newPauses()
	var recent recentValues
	var sums collectionSums
	err := m.follow(cmd, profile.Providers, func(rec *etw.Record) error {
		var err error
		followed.take(rec, func(_ int64, g *gc.GC) {
			sums.add(g)
			if pause, ok := g.PauseMS.Get(); ok {
				recent.add(pause)
			}
			if err == nil {
				err = s.Row(collectionCells(g, &recent)...)
			}
		})
		return err
	})
	ended := s.End()
	if p.Format == show.FormatText && err == nil {
		p.Prose(show.ColorBold, sums.String(), 0)
	}
	return p.Close(ended, err)
}

// collectionSums are of all collections that ended, however many.
type collectionSums struct {
	all         int
	generations [3]int // of those whose generation is known
	paused      float64
	unknown     int // whose pause is not known
}

func (c *collectionSums) add(g *gc.GC) {
	c.all++
	if i := int(g.Generation); i >= 0 && i < len(c.generations) {
		c.generations[i]++
	}
	if ms, ok := g.PauseMS.Get(); ok {
		c.paused += ms
	} else {
		c.unknown++
	}
}

// String returns the sums as a line.
func (c *collectionSums) String() string {
	if c.all == 0 {
		return "no collection ended"
	}
	text := show.Count(c.all, "collection", "collections") + " ended"
	for i, n := range c.generations {
		text += fmt.Sprintf(", gen %d: %d", i, n)
	}
	text += fmt.Sprintf("; pauses %.3f ms", c.paused)
	if c.unknown > 0 {
		text += fmt.Sprintf(", without %d that are not known", c.unknown)
	}
	return text
}

// collectionColumns are the columns of a line. The columns of pauses fit a terminal of 80
// columns.
func collectionColumns() []show.Column {
	return []show.Column{show.Moment("startMs").Roomy(8), show.IDColumn("number"), show.Label("name"), show.MSColumn("pauseMs").Roomy(8),
		show.MBColumn("beforeMB").Spared(2), show.MBColumn("afterMB"), show.MBColumn("promotedMB").Spared(3), show.MBColumn("allocatedMB").Spared(4),
		show.MSColumn("p50Ms").Roomy(7), show.MSColumn("p95Ms").Roomy(7), show.MSColumn("p99Ms").Roomy(7), show.MSColumn("maxMs").Roomy(7), show.Label("reason").Roomy(10).Spared(1)}
}

// collectionCells returns the cells of a collection, with the percentiles of the pauses
// up to it.
func collectionCells(g *gc.GC, recent *recentValues) []string {
	number := func(v quantity.Float, digits int) string {
		if f, ok := v.Get(); ok {
			return strconv.FormatFloat(f, 'f', digits, 64)
		}
		return ""
	}
	cells := []string{number(quantity.Known(g.StartMS), 1), strconv.Itoa(int(g.Number)), g.Name, number(g.PauseMS, 3),
		number(g.BeforeMB, 1), number(g.AfterMB, 1), number(g.PromotedMB, 1), number(g.AllocatedMB, 1)}
	for _, share := range []float64{0.5, 0.95, 0.99, 1} {
		cells = append(cells, number(quantity.Percentile(recent.sorted, share), 3))
	}
	return append(cells, g.Reason)
}

// recentValues has the last values, in their order and sorted.
type recentValues struct {
	ring   []float64
	next   int
	sorted []float64
}

func (r *recentValues) add(v float64) {
	if len(r.ring) < recentPauses {
		r.ring = append(r.ring, v)
	} else {
		i, _ := slices.BinarySearch(r.sorted, r.ring[r.next])
		r.sorted = slices.Delete(r.sorted, i, i+1)
		r.ring[r.next] = v
		r.next = (r.next + 1) % recentPauses
	}
	i, _ := slices.BinarySearch(r.sorted, v)
	r.sorted = slices.Insert(r.sorted, i, v)
}
