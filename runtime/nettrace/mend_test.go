package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"testing/iotest"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A section is a block as it lies in a stream: its header, up to the data, and the
// header of the data, which is the first bytes of it.
type section struct{ start, data, end int }

// sections splits a whole stream into the blocks behind its trace header.
func sections(t testing.TB, data []byte) []section {
	t.Helper()
	var list []section
	le := binary.LittleEndian
	if data[0] == 'N' && le.Uint32(data[8:]) == 0 {
		for at := 20; at < len(data); {
			end := at + 4 + int(le.Uint32(data[at:])&0xffffff)
			list = append(list, section{at, at + 4, end})
			at = end
		}
		return list[1 : len(list)-1]
	}
	at := bytes.Index(data, []byte("!FastSerialization.1")) + 20
	for data[at] != 1 {
		s := section{start: at}
		n := int(le.Uint32(data[at+11:]))
		name := string(data[at+15 : at+15+n])
		at += 15 + n + 1
		if name == "Trace" {
			at += 48 + 1
			continue
		}
		size := int(le.Uint32(data[at:]))
		s.data = (at + 4 + 3) &^ 3
		s.end = s.data + size
		at = s.end + 1
		list = append(list, s)
		if at >= len(data) {
			break
		}
	}
	return list
}

// A contents is the result of reading a stream: how often each record came, without regard
// to order, and the errors.
type contents struct {
	records map[uint64]int
	err     error
	stats   nettrace.Stats
}

var digestSeed = maphash.MakeSeed()

// contentsOf reads a stream. Each is called with the digest of a record and
// with how much was read.
func contentsOf(t testing.TB, data []byte, each func(sum uint64, read int64), opts ...nettrace.Option) contents {
	t.Helper()
	return contentsFrom(bytes.NewReader(data), each, opts...)
}

func contentsFrom(src io.Reader, each func(sum uint64, read int64), opts ...nettrace.Option) contents {
	c := contents{records: make(map[uint64]int)}
	r, err := nettrace.NewReader(src, opts...)
	if err != nil {
		c.err = err
		return c
	}
	var rec etw.Record
	for c.err = r.Next(&rec); c.err == nil; c.err = r.Next(&rec) {
		sum := maphash.Bytes(digestSeed, rec.Payload) ^ uint64(rec.Timestamp)*0x9e3779b97f4a7c15
		c.records[sum]++
		if each != nil {
			each(sum, r.Stats().Bytes)
		}
	}
	if c.err == io.EOF {
		c.err = nil
	}
	c.stats = r.Stats()
	return c
}

// missing returns how many records of want are not in c.
func (c contents) missing(want map[uint64]int) int {
	n := 0
	for sum, count := range want {
		n += max(0, count-c.records[sum])
	}
	return n
}

// told reports whether c says that something is missing.
func (c contents) told(whole contents) bool {
	return errors.Is(c.err, etw.ErrIncomplete) || c.stats.Lost > whole.stats.Lost
}

// wholeTraces returns the traces that end as they should: of the corpus, if there
// is one, and of the project.
func wholeTraces(t *testing.T) []string {
	files := recorded(t)
	if _, err := os.Stat(corpus.Dir(t)); err == nil {
		files = append(files, corpusFiles(t)...)
		files = append(files, corpus.Glob(t, "dotnet10", "*.net*[ef]")...)
	}
	return slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "killed.nettrace" })
}

// A subject is a whole trace, to be damaged.
type subject struct {
	name     string
	data     []byte
	list     []section
	whole    contents
	perBlock []map[uint64]int
	rng      *rand.Rand
	runs     int // more for small ones
}

// headerEnd returns where that of a block ends which says how to read it.
func (s *subject) headerEnd(l section) int {
	if s.data[0] != 'N' { // netperf has no header in the data
		return l.data
	}
	return min(l.data+20, l.end)
}

// subjects calls test with each of the traces.
func subjects(t *testing.T, test func(s *subject)) {
	for _, file := range wholeTraces(t) {
		data := testio.Read(t, file)
		if len(data) > 2<<20 && testing.Short() {
			continue
		}
		s := &subject{
			name: filepath.Base(file), data: data, list: sections(t, data),
			rng: rand.New(rand.NewPCG(1, uint64(len(data)))), runs: 1 + (6<<20)/corpus.Every(4)/(len(data)+64<<10),
		}
		s.perBlock = make([]map[uint64]int, len(s.list))
		s.whole = contentsOf(t, data, func(sum uint64, read int64) {
			b := sort.Search(len(s.list), func(i int) bool { return int64(s.list[i].end) >= read })
			if s.perBlock[b] == nil {
				s.perBlock[b] = make(map[uint64]int)
			}
			s.perBlock[b][sum]++
		}, nettrace.WithFileOrder())
		if s.whole.err != nil || s.whole.stats.Damage.Count > 0 {
			t.Fatalf("%s: a false alarm: %v", s.name, s.whole.err)
		}
		test(s)
	}
}

// A tally compares the events of blocks that were not touched with those that came.
type tally struct{ kept, expected int }

// add counts the events of c outside block b, and returns how many are missing.
func (n *tally) add(s *subject, b int, c contents) int {
	own, rest := 0, int(s.whole.stats.Records)
	for sum, count := range s.perBlock[b] {
		own += max(0, count-c.records[sum])
		rest -= count
	}
	missing := max(0, c.missing(s.whole.records)-own)
	n.kept += rest - missing
	n.expected += rest
	return missing
}

func (n *tally) check(t *testing.T, least float64) {
	t.Helper()
	share := float64(n.kept) / float64(n.expected)
	if share < least {
		t.Errorf("only %.4f of the events of other blocks came", share)
	}
	t.Logf("%.6f of %d events of other blocks came", share, n.expected)
}

// TestCuts cuts traces. All events up to there come, or the loss is told of, which
// in a trace without an end marker is always.
func TestCuts(t *testing.T) {
	subjects(t, func(s *subject) {
		for i := range s.runs {
			n := s.rng.IntN(len(s.data))
			c := contentsOf(t, s.data[:n], nil, orders[i%2]...)
			if c.err == nil {
				t.Fatalf("%s: cut at %d: nothing was said", s.name, n)
			}
			for i, l := range s.list {
				for sum, count := range s.perBlock[i] {
					if l.end <= n && c.records[sum] < count {
						t.Fatalf("%s: cut at %d: events of the block at %d are missing", s.name, n, l.start)
					}
				}
			}
		}
	})
}

// TestFlippedHeaders flips bits in the headers of blocks. Either all events come,
// or the loss is told of. A flip costs the events of its block, and of others
// hardly any.
func TestFlippedHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads, and takes long with the race detector")
	}
	var n tally
	subjects(t, func(s *subject) {
		damaged := bytes.Clone(s.data)
		for i := range 4 * s.runs {
			b := s.rng.IntN(len(s.list))
			l := s.list[b]
			at := l.start + s.rng.IntN(s.headerEnd(l)-l.start)
			bit := byte(1) << s.rng.IntN(8)
			damaged[at] ^= bit
			c := contentsOf(t, damaged, nil, orders[i%2]...)
			damaged[at] ^= bit
			what := fmt.Sprintf("%s: byte %d (%+v) flipped by %#x", s.name, at, l, bit)
			if missing := c.missing(s.whole.records); missing > 0 && !c.told(s.whole) {
				t.Fatalf("%s: %d events missing unsaid", what, missing)
			}
			if missing := n.add(s, b, c); missing > 0 {
				t.Logf("%s: %d events of other blocks missing: %v", what, missing, c.err)
			}
			if c.stats.Lost > s.whole.stats.Lost+s.whole.stats.Records {
				t.Errorf("%s: %d events lost of %d", what, c.stats.Lost, s.whole.stats.Records)
			}
		}
	})
	n.check(t, 0.999)
}

// TestDamagedStreams holds the events of a damaged stream, of which the reader sees only so
// much at a time, against those of the same bytes in memory.
func TestDamagedStreams(t *testing.T) {
	subjects(t, func(s *subject) {
		if len(s.data) > 2<<20 {
			return
		}
		for i := range 1 + s.runs/4 {
			damaged := bytes.Clone(s.data)
			l := s.list[s.rng.IntN(len(s.list))]
			at := l.start + s.rng.IntN(min(s.headerEnd(l), len(damaged)-1)-l.start)
			damaged[at] ^= byte(1) << s.rng.IntN(8)
			opts := orders[i%2]
			want := contentsFrom(bytes.NewReader(damaged), nil, opts...)
			got := contentsFrom(iotest.HalfReader(bytes.NewReader(damaged)), nil, opts...)
			if got.stats.Records != want.stats.Records || got.missing(want.records) != 0 || fmt.Sprint(got.err) != fmt.Sprint(want.err) || got.stats.Bytes != want.stats.Bytes {
				t.Fatalf("%s: byte %d (%+v): as a stream %d records, %v; in memory %d, %v", s.name, at, l, got.stats.Records, got.err, want.stats.Records, want.err)
			}
		}
	})
}

// TestShiftedBytes inserts and deletes bytes. The events behind them are found again.
func TestShiftedBytes(t *testing.T) {
	var n tally
	subjects(t, func(s *subject) {
		for i := range s.runs {
			b := s.rng.IntN(len(s.list))
			l := s.list[b]
			at := l.start + s.rng.IntN(l.end-l.start)
			size := 1 + s.rng.IntN(min(40, l.end-at))
			data := slices.Concat(s.data[:at], s.data[at+size:])
			if i%2 == 0 {
				data = slices.Concat(s.data[:at], s.data[:size], s.data[at:])
			}
			c := contentsOf(t, data, nil)
			if missing := c.missing(s.whole.records); missing > 0 && !c.told(s.whole) {
				t.Fatalf("%s: %d bytes at %d: %d events missing unsaid", s.name, size, at, missing)
			}
			if missing := n.add(s, b, c); missing > 100 {
				t.Logf("%s: %d bytes at %d (%+v), %d: %d events of other blocks missing: %v", s.name, size, at, l, i%2, missing, c.err)
			}
		}
	})
	n.check(t, 0.98)
}
