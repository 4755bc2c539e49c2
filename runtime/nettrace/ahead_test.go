package nettrace

import (
	"bytes"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// An outcome is all that reading a stream says.
type outcome struct {
	opening, end string // errors
	records      int
	sum          uint64 // of all records and their origins
	stats        Stats
}

// readWith reads a stream, with an ahead however small it is, or without.
func readWith(data []byte, ahead bool, opts ...Option) outcome {
	r, err := NewReader(bytes.NewReader(data), append(opts, WithoutReadAhead())...)
	if err != nil {
		return outcome{opening: err.Error()}
	}
	if ahead {
		r.ahead = newAhead(&r.stream, 1)
	}
	defer r.Close()
	d := digest{r: r, sum: fnv.New64a()}
	var rec etw.Record
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
		d.add(&rec)
	}
	return d.outcome(err)
}

// A digest sums up the records of a reader.
type digest struct {
	r       *Reader
	records int
	line    []byte
	sum     hash.Hash64
}

// add adds the record that was delivered last.
func (d *digest) add(rec *etw.Record) {
	d.records++
	o := d.r.Origin()
	d.line = fmt.Appendln(d.line[:0], rec.ID, rec.Version, rec.Timestamp, rec.ProcessID, rec.ThreadID, rec.Processor, rec.Extended, rec.Schema == nil,
		o.MetadataID, o.CaptureThread, o.Sequence, o.SortPoint, len(rec.Payload), len(rec.Stack.Addresses))
	for _, part := range [][]byte{d.line, rec.Provider[:], rec.ActivityID[:], rec.RelatedActivityID[:], rec.Payload, rec.Stack.Addresses} {
		d.sum.Write(part)
	}
}

// outcome returns the outcome of reading, which ended with err.
func (d *digest) outcome(err error) outcome {
	out := outcome{records: d.records, end: err.Error(), sum: d.sum.Sum64(), stats: d.r.Stats()}
	if d.r.memory.paged != 0 {
		out.end += fmt.Sprintf("; %d bytes of pages", d.r.memory.paged)
	}
	return out
}

func checkAhead(t *testing.T, data []byte, opts ...Option) {
	t.Helper()
	want, got := readWith(data, false, opts...), readWith(data, true, opts...)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read ahead: %+v\notherwise: %+v", got, want)
	}
}

// withProcessors makes sure that others can decode ahead.
func withProcessors(t testing.TB) {
	before := runtime.GOMAXPROCS(4)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func ownTraces(t testing.TB) []string {
	return testio.Glob(t, "../../tests/recorded/*.nettrace")
}

// TestAhead reads traces with and without decoding ahead, whole, cut, and with bytes
// that are wrong.
func TestAhead(t *testing.T) {
	withProcessors(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range ownTraces(t) {
		data := testio.Read(t, file)
		checkAhead(t, data)
		checkAhead(t, data, WithFileOrder())
		checkAhead(t, data, WithSortLimit(50e3))
		checkAhead(t, data, WithSortLimit(300e3))
		if len(data) > 1<<20 {
			continue
		}
		for range 10 {
			checkAhead(t, data[:random.IntN(len(data))])
			wrong := bytes.Clone(data)
			for range 1 + random.IntN(4) {
				wrong[random.IntN(len(wrong))] ^= 1 << random.IntN(8)
			}
			checkAhead(t, wrong)
			checkAhead(t, wrong, WithFileOrder())
		}
	}
}

// TestAheadCorpus does so with traces of other programs.
func TestAheadCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long with the race detector")
	}
	withProcessors(t)
	for _, file := range corpus.Glob(t, "nettrace", "*.nettrace") {
		if fi, err := os.Stat(file); err != nil || fi.Size() > 6<<20 {
			continue
		}
		data := testio.Read(t, file)
		checkAhead(t, data)
		checkAhead(t, data, WithSortLimit(600e3))
	}
}

func FuzzAhead(f *testing.F) {
	withProcessors(f)
	for _, file := range ownTraces(f) {
		if data, err := os.ReadFile(file); err == nil && len(data) < 64<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkAhead(t, data)
		checkAhead(t, data, WithFileOrder())
	})
}

// TestAheadEnds drops readers in the middle, closed and not: no goroutine is left.
func TestAheadEnds(t *testing.T) {
	withProcessors(t)
	before := runtime.NumGoroutine()
	for i, file := range ownTraces(t) {
		data := testio.Read(t, file)
		r := testio.Reader(t, NewReader, data)
		var rec etw.Record
		for range 10 {
			if err := r.Next(&rec); err != nil {
				t.Fatal(err)
			}
		}
		if i%2 == 0 {
			r.Close()
		}
	}
	for end := time.Now().Add(5 * time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
