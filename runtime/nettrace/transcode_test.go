package nettrace_test

import (
	"fmt"
	"hash/maphash"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestTranscode writes the events of real traces in the other forms of the
// format and reads them back. It is the only test of version 6 with real events:
// there are no public traces of that version.
func TestTranscode(t *testing.T) { testTranscode(t, recorded(t)) }

func TestTranscodeCorpus(t *testing.T) { testTranscode(t, corpus.Share(corpusFiles(t), 8)) }

func testTranscode(t *testing.T, files []string) {
	for _, file := range files {
		for _, form := range []struct {
			name    string
			version int
			plain   bool
		}{{"netperf", 3, false}, {"compressed", 4, false}, {"plain", 4, true}, {"compressed 6", 6, false}, {"plain 6", 6, true}} {
			t.Run(filepath.Base(file)+"/"+form.name, func(t *testing.T) {
				t.Parallel()
				data, want := transcode(t, file, form.version, form.plain)
				recs, r := mustRead(t, data)
				if len(recs) != len(want) {
					t.Fatalf("%d records, want %d", len(recs), len(want))
				}
				for i, rec := range recs {
					if summary(rec, form.version) != want[i] {
						t.Fatalf("record %d differs: got %+v", i, rec)
					}
				}
				if r.Stats().Lost != 0 {
					t.Errorf("lost %d", r.Stats().Lost)
				}
			})
		}
	}
}

// seed is that of the hashes of records.
var seed = maphash.MakeSeed()

// summary is a hash of the parts of a record that all forms keep.
func summary(rec *etw.Record, version int) uint64 {
	processor := rec.Processor
	if version == 3 {
		processor = -1
	}
	var h maphash.Hash
	h.SetSeed(seed)
	fmt.Fprint(&h, rec.Timestamp, rec.ProviderName, rec.Key(), rec.Level, rec.Keywords, rec.ProcessID, rec.ThreadID, processor, rec.ActivityID, rec.RelatedActivityID)
	h.Write(rec.Stack.Addresses)
	h.Write(rec.Payload)
	return h.Sum64()
}

// transcode reads a file and writes its records in another form, some hundred to a block
// with their own stacks, threads and labels. It also returns the records to be read from
// that, as hashes.
func transcode(t *testing.T, file string, version int, plain bool) (data []byte, want []uint64) {
	t.Helper()
	r := testio.Open(t, nettrace.Open, file)
	defer r.Close()
	h := r.Header()
	w := nettracetest.NewWriter(version, nettracetest.Trace{
		Start: h.Start().Truncate(time.Millisecond), Origin: h.Clock.Origin, Frequency: h.Clock.Frequency, Pointer: h.PointerSize, ProcessID: uint32(h.ProcessID),
		Keys: [][2]string{{"ProcessId", fmt.Sprint(h.ProcessID)}},
	})
	w.Plain = plain
	type group struct {
		rows    []nettracetest.Row
		stacks  [][]uint64
		threads []nettracetest.Thread
		labels  [][]nettracetest.Label
		events  []nettracetest.Event
	}
	var g group
	rows := make(map[etw.Key]uint32)
	threads := make(map[uint64]bool)
	flush := func() {
		if len(g.rows) > 0 {
			w.Metadata(g.rows...)
		}
		if version != 3 {
			w.Stacks(1, g.stacks...)
		}
		if version == 6 {
			w.Threads(g.threads...)
			w.Labels(1, g.labels...)
		}
		w.Events(g.events...)
		if version != 3 {
			w.SequencePoint(0, 0, nil)
		}
		g = group{}
	}
	thread := func(id uint64) uint64 {
		if version == 6 && !threads[id] {
			threads[id] = true
			g.threads = append(g.threads, nettracetest.Thread{Index: id, ThreadID: id})
		}
		return id
	}
	var rec etw.Record
	err := r.Next(&rec)
	for ; err == nil; err = r.Next(&rec) {
		id, ok := rows[rec.Key()]
		if !ok {
			id = uint32(len(rows) + 1)
			rows[rec.Key()] = id
			g.rows = append(g.rows, nettracetest.Row{
				ID: id, Provider: rec.ProviderName, EventID: uint32(rec.ID), Version: uint32(rec.Version), Level: uint32(rec.Level), Keywords: rec.Keywords,
			})
		}
		e := nettracetest.Event{
			Metadata: id, Time: rec.Timestamp, Thread: thread(uint64(rec.ThreadID)), Capture: thread(r.Origin().CaptureThread), Processor: rec.Processor + 1,
			SortPoint: r.Origin().SortPoint, Addresses: slices.Collect(rec.Stack.All()), Activity: rec.ActivityID, Related: rec.RelatedActivityID,
			Payload: slices.Clone(rec.Payload),
		}
		if len(e.Addresses) > 0 {
			g.stacks = append(g.stacks, e.Addresses)
			e.Stack = uint32(len(g.stacks))
		}
		if version == 6 && (!e.Activity.IsZero() || !e.Related.IsZero()) {
			g.labels = append(g.labels, []nettracetest.Label{{Kind: 1, GUID: e.Activity}, {Kind: 2, GUID: e.Related}})
			e.Labels = uint32(len(g.labels))
		}
		g.events = append(g.events, e)
		want = append(want, summary(&rec, version))
		if len(g.events) == 300 {
			flush()
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	flush()
	w.End()
	return w.Bytes(), want
}
