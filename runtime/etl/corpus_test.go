package etl_test

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestCorpus reads real traces, which are intact: nothing is lost, skipped or out
// of order, and whatever has a schema of its own decodes by it to the last byte,
// but for the events that are listed.
func TestCorpus(t *testing.T) {
	shorter := map[string]string{
		"ClrEnableParameters": "PerfView writes a 64-bit number, and a manifest with one of 32",
		"CLRStackWalk":        "the manifest of Windows counts 2 addresses, the runtime writes all",
	}
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		r, err := etl.Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		records, described, odd := 0, 0, make(map[string]int)
		var d etw.Dynamic
		last := int64(-1 << 63)
		for rec, err := range r.Records() {
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(path), err)
				break
			}
			records++
			if rec.Timestamp < last {
				t.Errorf("%s: record %d is earlier than the one before it", filepath.Base(path), records)
			}
			last = rec.Timestamp
			if rec.Schema == nil {
				continue
			}
			described++
			n, err := d.Decode(rec.Schema, rec.Payload, rec.PointerSize)
			if name := rec.Schema.TaskName + "/" + rec.Schema.Title(); err != nil || n != len(rec.Payload) {
				if odd[name]++; odd[name] == 1 && !listed(shorter, name) {
					t.Errorf("%s: %s: %d of %d bytes, %v", filepath.Base(path), name, n, len(rec.Payload), err)
				}
			}
		}
		s := r.Stats()
		if s.Unknown+s.Undecodable+s.OutOfOrder+s.MissingBuffers+s.UnreadBytes+s.UnwrittenBytes+int64(s.Damage.Count) != 0 {
			t.Errorf("%s: statistics of an intact file: %+v", filepath.Base(path), s)
		}
		if want := int64(r.Header().BuffersWritten); s.Buffers != want {
			t.Errorf("%s: %d buffers, the header says %d", filepath.Base(path), s.Buffers, want)
		}
		t.Logf("%s: %d records, %d with a schema of the trace", filepath.Base(path), records, described)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func listed(list map[string]string, name string) bool {
	for part := range list {
		if len(name) >= len(part) && name[len(name)-len(part):] == part {
			return true
		}
	}
	return false
}

// A fingerprint tells records apart.
type fingerprint uint64

var fingerprintSeed = maphash.MakeSeed()

func fingerprintOf(r *etw.Record) fingerprint {
	var h maphash.Hash
	h.SetSeed(fingerprintSeed)
	b := binary.LittleEndian.AppendUint64(nil, uint64(r.Timestamp))
	b = append(b, byte(r.Processor), byte(r.ID), byte(r.Opcode), byte(r.ThreadID))
	h.Write(b)
	h.Write(r.Provider[:])
	h.Write(r.Payload)
	return fingerprint(h.Sum64())
}

// TestCorpusTruncation cuts real traces at every 512th byte. The delivered records are in
// order, was in the whole trace, and includes every record that lies before the cut.
func TestCorpusTruncation(t *testing.T) {
	if testing.Short() {
		t.Skip("reads real traces some 2500 times")
	}
	for _, name := range []string{"gcevents.etl", "filtrace_etw.etl"} {
		data := testio.Read(t, corpus.File(t, "etl", name))
		whole := readFingerprints(t, data)
		// How many of the records are in buffers before each position.
		ends := recordsByBuffer(t, data)
		cuts := 0
		for cut := 512; cut < len(data); cut += 512 * corpus.Every(8) {
			if cut < ends[0].end {
				continue // the header itself is cut
			}
			cuts++
			got := readFingerprints(t, data[:cut])
			sound := 0
			for _, e := range ends {
				if e.end <= cut {
					sound += e.records
				}
			}
			if len(got) < sound {
				t.Fatalf("%s: cut at %d: %d records, want at least %d", name, cut, len(got), sound)
			}
			// They are a part of the whole, in the same order.
			at := 0
			for i, f := range got {
				for at < len(whole) && whole[at] != f {
					at++
				}
				if at == len(whole) {
					t.Fatalf("%s: cut at %d: record %d is not in the whole trace, or out of order", name, cut, i)
				}
				at++
			}
		}
		t.Logf("%s: %d cuts, %d records", name, cuts, len(whole))
	}
}

func readFingerprints(t *testing.T, data []byte) (all []fingerprint) {
	r := newReader(t, data, etl.WithoutSchemas(), etl.WithoutAttribution())
	var rec etw.Record
	var damage *etw.IncompleteError
	for {
		switch err := r.Next(&rec); {
		case err == nil:
			all = append(all, fingerprintOf(&rec))
		case errors.As(err, &damage):
			if !errors.Is(err, etl.ErrTruncated) && !errors.Is(err, etl.ErrMissing) {
				t.Fatalf("%d bytes: %v, want ErrTruncated or ErrMissing", len(data), err)
			}
		default:
			r.Close()
			return all
		}
	}
}

// A bufferEnd is where a buffer ends and how many records it has.
type bufferEnd struct{ end, records int }

// recordsByBuffer counts the records of each buffer, by reading the file up to
// its end and taking the difference.
func recordsByBuffer(t *testing.T, data []byte) (ends []bufferEnd) {
	before := 0
	for at := 0; at < len(data); {
		at += int(binary.LittleEndian.Uint32(data[at:]))
		n := len(readFingerprints(t, data[:at]))
		ends = append(ends, bufferEnd{at, n - before})
		before = n
	}
	return ends
}

// TestCorpusSession merges the files of one session, whose headers were written
// one after the other.
func TestCorpusSession(t *testing.T) {
	r := testio.Open(t, etl.OpenAll, corpus.Glob(t, "etl", "diaghub*.etl"))
	defer r.Close()
	records := mustReadAll(t, r)
	for i, rec := range records {
		if rec.Clock != records[0].Clock {
			t.Fatalf("record %d has another clock", i)
		}
		if i > 0 && rec.Timestamp < records[i-1].Timestamp {
			t.Fatalf("record %d is earlier than the one before it", i)
		}
	}
	var earliest etw.FileTime
	for _, h := range r.Headers() {
		if earliest == 0 || h.Clock.Start < earliest {
			earliest = h.Clock.Start
		}
	}
	if got := records[0].Clock.Start; got != earliest {
		t.Errorf("times count from %v, want %v", got, earliest)
	}
}
