package nettrace

import (
	"bytes"
	stdcontext "context"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// someKinds returns a choice of kinds, each of which is wanted or not.
func someKinds(seed uint64) func(*etw.Record) bool {
	return func(r *etw.Record) bool {
		sum := fnv.New64a()
		sum.Write(r.Provider[:])
		sum.Write([]byte{byte(r.ID), byte(r.ID >> 8), r.Version, byte(seed)})
		return sum.Sum64()>>7&1 == 0
	}
}

// readChosen reads records one by one, and sums up those that are wanted.
func readChosen(r *Reader, wanted func(*etw.Record) bool) outcome {
	d := digest{r: r, sum: fnv.New64a()}
	var rec etw.Record
	err := r.Next(&rec)
	for ; err == nil; err = r.Next(&rec) {
		if wanted(&rec) {
			d.add(&rec)
		}
	}
	return d.outcome(err)
}

// readPushed does so with the records that the reader does not leave out, and returns how
// many were left out.
func readPushed(r *Reader, wanted func(*etw.Record) bool) (outcome, uint64) {
	d := digest{r: r, sum: fnv.New64a()}
	w := etw.Wants{Kind: wanted}
	err := r.Push(stdcontext.Background(), &w, func(rec *etw.Record) error {
		if wanted(rec) {
			d.add(rec)
		}
		if rec.Timestamp%7 == 0 { // which asks again
			w.Turn++
		}
		return nil
	})
	if err == nil {
		err = io.EOF
	}
	return d.outcome(err), w.Skipped
}

// checkPush reads a stream in both ways, and returns how many events were left out.
func checkPush(t *testing.T, data []byte, opts ...Option) uint64 {
	t.Helper()
	var skipped uint64
	for seed := range uint64(3) {
		wanted := someKinds(seed)
		one, err := NewReader(bytes.NewReader(data), opts...)
		if err != nil {
			return 0
		}
		other := testio.Reader(t, NewReader, data, opts...)
		want := readChosen(one, wanted)
		got, left := readPushed(other, wanted)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("pushed: %+v\none by one: %+v", got, want)
		}
		if left+uint64(got.records) > uint64(got.stats.Records) {
			t.Errorf("%d records, and %d left out, of %d", got.records, left, got.stats.Records)
		}
		skipped += left
		one.Close()
		other.Close()
	}
	return skipped
}

// TestPush reads traces one by one and by pushing, whole, cut, and with bytes that are
// wrong: the records that are wanted, all counts and the error are the same.
func TestPush(t *testing.T) {
	files := ownTraces(t)
	random := rand.New(rand.NewPCG(3, 4))
	for _, file := range files {
		data := testio.Read(t, file)
		if checkPush(t, data) == 0 {
			t.Errorf("%s: no event was left out", file)
		}
		if len(data) > 1<<20 {
			continue
		}
		checkPush(t, data, WithFileOrder())
		for range 5 {
			checkPush(t, data[:random.IntN(len(data))])
			wrong := bytes.Clone(data)
			for range 1 + random.IntN(4) {
				wrong[random.IntN(len(wrong))] ^= 1 << random.IntN(8)
			}
			checkPush(t, wrong)
		}
	}
}

// TestPushCorpus does so with traces of other programs.
func TestPushCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long with the race detector")
	}
	for _, folder := range []string{"nettrace", "universal", "causes"} {
		for _, file := range corpus.Glob(t, folder, "*.net*") {
			if fi, err := os.Stat(file); err != nil || fi.Size() > 6<<20 {
				continue
			}
			data := testio.Read(t, file)
			checkPush(t, data)
		}
	}
}

// TestPushEnds ends a reading by a function and by a context, and goes on.
func TestPushEnds(t *testing.T) {
	data := smallTraces(t)
	r := testio.Reader(t, NewReader, data)
	all := readChosen(r, func(*etw.Record) bool { return true })
	r = testio.Reader(t, NewReader, data)
	enough := errors.New("enough")
	n := 0
	one := func(*etw.Record) error { n++; return enough }
	if err := r.Push(t.Context(), nil, one); err != enough || n != 1 {
		t.Errorf("%v after %d records", err, n)
	}
	var rec etw.Record
	if err := r.Next(&rec); err != nil {
		t.Error(err)
	}
	ended, cancel := stdcontext.WithCancel(t.Context())
	cancel()
	left := etw.Wants{Kind: func(*etw.Record) bool { return false }}
	if err := r.Push(ended, &left, one); !errors.Is(err, stdcontext.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
	if err := r.Push(t.Context(), nil, func(*etw.Record) error { n++; return nil }); err != nil || n+1+int(left.Skipped) != all.records {
		t.Errorf("%v; %d records pushed, one read, %d left out, of %d", err, n, left.Skipped, all.records)
	}
	if err := r.Push(t.Context(), nil, one); err != nil {
		t.Errorf("after the end: %v", err)
	}
	r.Close()
	if err := r.Push(t.Context(), nil, one); err != errClosed {
		t.Errorf("after Close: %v", err)
	}
}

// smallTraces returns a recorded trace with more events than are read between two looks
// at a context.
func smallTraces(t *testing.T) []byte {
	return testio.Read(t, "../../tests/recorded/gc.nettrace")
}
