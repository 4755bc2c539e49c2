package look

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
	"github.com/etwgen/etwgen/trace"
)

// leastGlance is the size of files from which on the pass over all of them takes long
// enough for people to wait for it.
const leastGlance = 512 << 10

// mostPass is the size of files up to which it is a moment.
const mostPass = 32 << 20

// glance is a look at the begin of .etl files that does without the pass over all of
// them, so that the columns, and the first event, are there at once. It returns nil if
// it would not do, or is not worth it: then m has met nothing but names. lines says that
// the format has no columns, and only names are of use.
func (d *Dump) glance(m *pick.Meeting, args []string, lines bool) *pick.Ahead {
	if d.Follow || lines && len(d.Selector.Wheres) > 0 || d.choosesOwners() || !areLarge(args, leastGlance) {
		return nil
	}
	in := d.In
	in.Foresight = nil
	opts, err := in.Options(d.Cmd)
	if err != nil {
		return nil
	}
	t, err := trace.OpenAll(args, append(opts, trace.WithoutAttribution(), trace.WithoutSchemas())...)
	if err != nil {
		return nil
	}
	defer t.Close()
	var first []*etw.Record
	var schemas schema.Set
	a := pick.LookAhead(t, pick.AheadEvents, func(r *etw.Record) {
		schemas.Learn(r)
		first = append(first, r)
	})
	trial := pick.NewMeeting(d.Selector, m.T)
	trial.Glance, trial.Names = true, m.Names
	for _, r := range first {
		schemas.Describe(r)
		trial.Meet(r)
	}
	if !lines && trial.Kernel && trial.Names.Widest.Process == 0 && !areLarge(args, mostPass) {
		return nil // the end may list processes, for which there is to be room
	}
	if trial.Nameless && (d.Out.Format != show.FormatText || d.Selector.Given || d.Style.fields != nil) && !lines {
		return nil
	}
	*m = *trial
	return a
}

// choosesOwners reports whether events are chosen by facts that only the pass over a file tells.
func (d *Dump) choosesOwners() bool {
	h := &d.Selector.Header
	return len(h.Processes)+len(h.Threads) > 0
}

// areLarge reports whether paths are of .etl files of at least so many bytes together.
func areLarge(paths []string, least int64) bool {
	size := int64(0)
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".etl") {
			return false
		}
		size += info.Size()
	}
	return size >= least
}
