package etl_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A trace is an intact file, with its contents.
type trace struct {
	name    string
	data    []byte
	buffers []span
	records []map[contents]int // of each buffer
	total   int
}

// A span is where a buffer lies.
type span struct{ begin, end int }

// contents tells a record from others, but not where it was found.
type contents uint64

var contentsSeed = maphash.MakeSeed()

func contentsOf(r *etw.Record) contents {
	var h maphash.Hash
	h.SetSeed(contentsSeed)
	b := binary.LittleEndian.AppendUint64(nil, uint64(r.Timestamp))
	b = append(b, byte(r.Kind), byte(r.ID), byte(r.ID>>8), byte(r.Opcode), r.Version)
	h.Write(binary.LittleEndian.AppendUint32(b, uint32(r.ThreadID)))
	h.Write(r.Provider[:])
	h.Write(r.Payload)
	return contents(h.Sum64())
}

// errUnknown stands for records that are counted as being of an unknown kind.
var errUnknown = errors.New("of an unknown kind")

// readContents returns the readable part of data, and the error after it.
func readContents(t *testing.T, data []byte) (all map[contents]int, err error) {
	r, err := etl.NewReader(bytes.NewReader(data), int64(len(data)), etl.WithoutSchemas(), etl.WithoutAttribution())
	all = make(map[contents]int)
	if err != nil {
		return all, err
	}
	defer r.Close()
	var rec etw.Record
	for {
		switch err := r.Next(&rec); {
		case err == io.EOF && r.Stats().Unknown > 0:
			return all, errUnknown
		case err == io.EOF:
			return all, nil
		case err != nil:
			if !errors.Is(err, etw.ErrIncomplete) || r.Stats().Damage.Count == 0 {
				t.Fatalf("error %v, want one that is ErrIncomplete", err)
			}
			return all, err
		}
		all[contentsOf(&rec)]++
	}
}

// newTrace takes an intact file apart: each buffer is read with the first one
// alone.
func newTrace(t *testing.T, name string, data []byte) *trace {
	t.Helper()
	tr := &trace{name: name, data: data}
	all, err := readContents(t, data)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, n := range all {
		tr.total += n
	}
	for at := 0; at < len(data); at = tr.buffers[len(tr.buffers)-1].end {
		b := span{at, at + int(binary.LittleEndian.Uint32(data[at:]))}
		part := bytes.Clone(data[:b.end])
		if at > 0 {
			part = append(part[:tr.buffers[0].end], data[b.begin:b.end]...)
		}
		in, _ := readContents(t, part) // others are missing
		if at > 0 {
			for c, n := range tr.records[0] {
				in[c] -= n
			}
		}
		tr.buffers, tr.records = append(tr.buffers, b), append(tr.records, in)
	}
	return tr
}

// traces returns a trace for each compression, and small real ones.
func traces(t *testing.T) (all []*trace) {
	for _, c := range compressions {
		h := etltest.DefaultHeader()
		h.Compression, h.BufferSize, h.Processors = c, 2048, 3
		_, written := randomTrace(&h, 60)
		all = append(all, newTrace(t, c.String(), file(t, h, written...)))
	}
	for _, name := range []string{"gcevents.etl", "primitive-types.etl", "smallEtlFile.etl", "SelfDescribingSingleEvent.etl"} {
		data := testio.Read(t, corpus.File(t, "etl", name))
		all = append(all, newTrace(t, name, data))
	}
	return all
}

// check reads mutated data and returns how many records there were in the buffers
// that are not touched, how many of those came, and whether any record is missing
// without a word.
func (tr *trace) check(t *testing.T, data []byte, touched func(buffer int) bool) (whole, kept int, unsaid bool) {
	t.Helper()
	got, err := readContents(t, data)
	come := 0
	for _, n := range got {
		come += n
	}
	unsaid = come < tr.total && err == nil
	for i, in := range tr.records {
		if touched(i) {
			continue
		}
		for c, n := range in {
			whole += n
			k := min(got[c], n)
			got[c] -= k
			kept += k
		}
	}
	return whole, kept, unsaid
}

// A tally adds up the records kept in mutations of one kind.
type tally struct{ whole, kept, worst, runs, unsaid int }

func (s *tally) add(whole, kept int, unsaid bool) {
	s.whole += whole
	s.kept += kept
	s.worst = max(s.worst, whole-kept)
	s.runs++
	if unsaid {
		s.unsaid++
	}
}

// require holds s to shares, in percent: of records kept, and of runs with a loss
// that nothing says.
func (s *tally) require(t *testing.T, what string, kept, unsaid float64) {
	t.Helper()
	if testing.Short() && kept < 100 { // a few runs say little
		kept, unsaid = kept-20, unsaid+20
	}
	share := 100 * float64(s.kept) / float64(max(s.whole, 1))
	t.Logf("%s: %d runs, %.3f %% of %d records kept, at worst %d lost, %d times without a word", what, s.runs, share, s.whole, s.worst, s.unsaid)
	if share < kept || float64(s.unsaid) > unsaid/100*float64(s.runs) {
		t.Errorf("%s: %.3f %% kept, want %v %%; %d of %d losses without a word", what, share, kept, s.unsaid, s.runs)
	}
}

// flip reads tr with one bit of the header of buffer i the other way round.
func (tr *trace) flip(t *testing.T, sum *tally, i, bit int) {
	data := bytes.Clone(tr.data)
	data[tr.buffers[i].begin+bit/8] ^= 1 << (bit % 8)
	whole, kept, unsaid := tr.check(t, data, func(n int) bool { return n == i })
	sum.add(whole, kept, unsaid)
	if kept < whole || unsaid {
		t.Errorf("%s: bit %d of byte %#x of the header at %d: %d of %d records of other buffers are lost, without a word: %v",
			tr.name, bit%8, bit/8, tr.buffers[i].begin, whole-kept, whole, unsaid)
	}
}

const headerBits = 8 * 0x48

// often is how many of n mutations to try.
func often(n, every int) int {
	if testing.Short() {
		return n / 20
	}
	return n / corpus.Every(every)
}

// TestFlippedHeaders flips each bit of the header of each buffer: that costs no
// record of another buffer.
func TestFlippedHeaders(t *testing.T) {
	for _, tr := range traces(t) {
		var sum tally
		for i := range tr.buffers {
			for n := range often(headerBits, 5) {
				tr.flip(t, &sum, i, n*headerBits/often(headerBits, 5))
			}
		}
		sum.require(t, tr.name, 100, 0)
	}
}

// TestFlippedHeadersOfLargeTraces flips some bits of all real traces.
func TestFlippedHeadersOfLargeTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large traces many times")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		data := testio.Read(t, path)
		tr := newTrace(t, filepath.Base(path), data)
		var sum tally
		for range min(200, max(10, (50<<20)/len(data))) / corpus.Every(5) {
			tr.flip(t, &sum, r.IntN(len(tr.buffers)), r.IntN(headerBits))
		}
		sum.require(t, tr.name, 100, 0)
	}
}

// between returns a function that tells the buffers that bytes from begin to end touch.
func (tr *trace) between(begin, end int) func(buffer int) bool {
	return func(n int) bool { return tr.buffers[n].begin < end && begin < tr.buffers[n].end }
}

// TestFlips flips a bit anywhere. Where it is one of a record, others can be lost
// with it, and seldom without a trace: as where it becomes longer by the next one.
func TestFlips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, tr := range traces(t) {
		var sum tally
		for range often(2000, 5) {
			at := r.IntN(len(tr.data))
			data := bytes.Clone(tr.data)
			data[at] ^= 1 << r.IntN(8)
			sum.add(tr.check(t, data, tr.between(at, at+1)))
		}
		sum.require(t, tr.name, 99, 1)
	}
}

// TestCuts cuts the end off.
func TestCuts(t *testing.T) {
	for _, tr := range traces(t) {
		var sum tally
		cut := func(at int) {
			sum.add(tr.check(t, tr.data[:at], tr.between(at, len(tr.data))))
		}
		for at := 0x48; at < len(tr.data); at += max(1, len(tr.data)/often(1000, 5)) {
			cut(at)
		}
		for _, b := range tr.buffers[1:] {
			cut(b.begin)
		}
		sum.require(t, tr.name, 100, 0)
	}
}

// TestInsertedAndDeleted inserts and deletes bytes.
func TestInsertedAndDeleted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, tr := range traces(t) {
		var inserted, deleted tally
		for range often(500, 5) {
			at, n := r.IntN(len(tr.data)), 1+r.IntN(200)
			data := bytes.Clone(tr.data[:at])
			for range n {
				data = append(data, byte(r.Uint32()))
			}
			inserted.add(tr.check(t, append(data, tr.data[at:]...), tr.between(at, at+1)))
			to := min(at+n, len(tr.data))
			deleted.add(tr.check(t, append(data[:at], tr.data[to:]...), tr.between(at, to)))
		}
		inserted.require(t, tr.name+", inserted", 97, 1)
		deleted.require(t, tr.name+", deleted", 97, 1)
	}
}

// TestOverwritten overwrites a region with zeros, with noise, or with another
// region.
func TestOverwritten(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tr := range traces(t) {
		for _, kind := range []struct {
			name string
			fill func([]byte)
		}{
			{"zeros", func(p []byte) { clear(p) }},
			{"noise", func(p []byte) {
				for i := range p {
					p[i] = byte(r.Uint32())
				}
			}},
			{"copy", func(p []byte) { copy(p, tr.data[r.IntN(len(tr.data)):]) }},
		} {
			var sum tally
			for range often(300, 1) {
				at := r.IntN(len(tr.data))
				to := min(at+1+r.IntN(3000), len(tr.data))
				data := bytes.Clone(tr.data)
				kind.fill(data[at:to])
				sum.add(tr.check(t, data, tr.between(at, to)))
			}
			sum.require(t, tr.name+", "+kind.name, 98, 5)
		}
	}
}
