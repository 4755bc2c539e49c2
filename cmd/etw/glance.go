package main

import (
	"os"
	"path/filepath"
	"strings"

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
func (d *dump) glance(m *meeting, args []string, lines bool) *ahead {
	if d.follow || lines && len(d.selector.wheres) > 0 || d.choosesOwners() || !areLarge(args, leastGlance) {
		return nil
	}
	in := d.in
	in.foresight = nil
	opts, err := in.options(d.cmd)
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
	a := lookAhead(t, aheadEvents, func(r *etw.Record) {
		schemas.Learn(r)
		first = append(first, r)
	})
	trial := newMeeting(d.selector, m.t)
	trial.glance, trial.names = true, m.names
	for _, r := range first {
		schemas.Describe(r)
		trial.meet(r)
	}
	if !lines && trial.kernel && trial.names.widest.process == 0 && !areLarge(args, mostPass) {
		return nil // the end may list processes, for which there is to be room
	}
	if trial.nameless && (d.out.format != formatText || d.selector.given || d.style.fields != nil) && !lines {
		return nil
	}
	*m = *trial
	return a
}

// choosesOwners reports whether events are chosen by what only the pass over a file tells.
func (d *dump) choosesOwners() bool {
	h := &d.selector.header
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
