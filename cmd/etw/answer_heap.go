package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newHeap returns the command that shows snapshots of heaps.
func newHeap() *cobra.Command {
	return (&question{
		name:  "heap",
		short: "Show what is on the heap, and what keeps it there",
		long: `Heap shows snapshots of the heaps of .NET programs. RETAINED BYTES would be free
without an object, or without all objects of a type: what only they keep alive counts
with them.

A snapshot is made when a recording begins, so the program must already run: etw
collect -p PID --providers clr:0x1980001:5 --duration 10s.

The rows are types, or what --by says: the hundred objects that retain most, each with
a path that keeps it alive; roots; snapshots; or how types changed from the first
snapshot to the last, of one trace or of several.

A snapshot makes the process collect, and stops it while the heap is walked.`,
		example: `  etw heap heapdump.nettrace
  etw heap --sort retainedBytes --top 5 heapdump.nettrace
  etw heap --by object --format csv heapdump.nettrace
  etw heap --by root heapdump.nettrace
  etw heap --format json heapdump.nettrace | jq '.snapshots[0].reachableBytes'
  etw heap -p 1234`,
		views: []string{"type", "object", "root", "snapshot", "change"},
		needs: heap.Needs,
		ask:   func(mux *etw.Mux) answer { return &heapAnswer{analysis: heap.New(mux)} },
	}).recorded(time.Minute, snapshotEnds())
}

// snapshotEnds returns what sees the end of the first snapshot of a live process.
func snapshotEnds() func(*etw.Record) bool {
	var mux etw.Mux
	walked, ended := false, false
	etw.Handle(&mux, func(*etw.Record, *clr.GCBulkNode) error { walked = true; return nil })
	etw.Handle(&mux, func(*etw.Record, *clr.AnyGCEnd) error { ended = walked; return nil })
	return func(r *etw.Record) bool {
		_ = mux.Dispatch(r) // no handler has an error
		return ended
	}
}

type heapAnswer struct {
	analysis *heap.Analysis
	res      *heap.Result
}

func (a *heapAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Snapshots) > 0
}

func (a *heapAnswer) result() any        { return a.res }
func (a *heapAnswer) warnings() []string { return a.res.Warnings() }
func (a *heapAnswer) several() bool      { return len(a.res.Snapshots) > 1 }

func (a *heapAnswer) totals(p *page) {
	if len(a.res.Snapshots) > fewRuntimes {
		p.title(fmt.Sprintf("%d snapshots", len(a.res.Snapshots)))
		p.small(a.snapshots(p.names))
		return
	}
	for _, s := range a.res.Snapshots {
		p.runtime(s.PID, s.CLRInstance)
		p.line("snapshot", "at %s, of collection %d", ms(s.AtMS), s.Number)
		p.line("objects", "%d, %d bytes", s.Objects, s.Bytes)
		p.line("alive", "%d, %d bytes; the others, %d bytes, wait for finalizers or are held weakly", s.ReachableObjects, s.ReachableBytes, s.UnreachableBytes)
		p.line("references", "%d, %d of them to what is not walked", s.References, s.Dangling)
		var roots []string
		for _, r := range s.Roots {
			roots = append(roots, fmt.Sprintf("%d %s", r.Count, r.Kind))
		}
		p.line("roots", "%s", strings.Join(roots, ", "))
	}
}

// columns are those of all tables: whose a snapshot is, and when it was.
func (a *heapAnswer) columns(more ...column) []column {
	at := moment("atMs")
	if !a.several() {
		at = at.forPrograms()
	}
	return append(append(processColumns(a.several()), at), more...)
}

func (a *heapAnswer) cells(s *heap.Snapshot, who *names, more ...string) []string {
	return append(append(who.processCells(s.PID), exact(s.AtMS)), more...)
}

func (a *heapAnswer) table(view string, who *names) *table {
	switch view {
	case "object":
		return a.objects(who)
	case "root":
		return a.roots(who)
	case "snapshot":
		return a.snapshots(who)
	case "change":
		return a.changes()
	}
	t := newTable(a.columns(counted("count"), counted("bytes"), measured("sharePercent", 1), counted("retainedBytes"), label("type"))...)
	for _, s := range a.res.Snapshots {
		for _, x := range s.Types {
			t.add(a.cells(s, who, whole(x.Count), whole(x.Bytes), maybe(x.SharePercent), whole(x.RetainedBytes), x.Type)...)
		}
	}
	return t
}

func (a *heapAnswer) objects(who *names) *table {
	t := newTable(a.columns(counted("retainedBytes"), counted("bytes"), label("address"), label("type"), label("path"))...)
	for _, s := range a.res.Snapshots {
		for _, x := range s.Largest {
			t.add(a.cells(s, who, whole(x.RetainedBytes), whole(x.Bytes), x.Address, x.Type, strings.Join(x.Path, " > "))...)
		}
	}
	return t
}

func (a *heapAnswer) roots(who *names) *table {
	t := newTable(a.columns(counted("count"), label("kind"))...)
	for _, s := range a.res.Snapshots {
		for _, x := range s.Roots {
			t.add(a.cells(s, who, whole(x.Count), x.Kind)...)
		}
	}
	return t
}

func (a *heapAnswer) snapshots(who *names) *table {
	t := newTable(append(processColumns(true), moment("atMs"), counted("objects"), counted("bytes"), counted("reachableObjects").spared(1), counted("reachableBytes"),
		counted("references").spared(2), label("complete"))...)
	for _, s := range a.res.Snapshots {
		t.add(a.cells(s, who, whole(s.Objects), whole(s.Bytes), whole(s.ReachableObjects), whole(s.ReachableBytes), whole(s.References),
			map[bool]string{true: "yes", false: "no"}[s.Complete])...)
	}
	return t
}

// changes lists how types changed from the first snapshot to the last.
func (a *heapAnswer) changes() *table {
	t := newTable(counted("count"), counted("bytes"), counted("retainedBytes"), label("type"))
	if n := len(a.res.Snapshots); n > 1 {
		for _, c := range heap.Diff(a.res.Snapshots[0], a.res.Snapshots[n-1]) {
			t.add(whole(c.Count), whole(c.Bytes), whole(c.RetainedBytes), c.Type)
		}
	}
	return t
}
