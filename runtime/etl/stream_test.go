package etl_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// bufferOf returns a buffer of one processor with events of the given times, which are
// their numbers, too.
func bufferOf(t testing.TB, h etl.Header, processor int, times ...int64) []byte {
	t.Helper()
	var records []*etw.Record
	for _, at := range times {
		records = append(records, event(&h, processor, at, uint32(at)))
	}
	list := cut(file(t, h, records...))
	if len(list) != 2 {
		t.Fatalf("%d buffers", len(list))
	}
	return list[1]
}

// cut returns the buffers of a file.
func cut(data []byte) (list [][]byte) {
	for len(data) > 0 {
		n := binary.LittleEndian.Uint32(data)
		list = append(list, data[:n])
		data = data[n:]
	}
	return list
}

// due returns the numbers of the records that need not wait.
func due(s *etl.Stream) (list []uint32) {
	var rec etw.Record
	for s.Next(&rec) {
		list = append(list, number(&rec))
	}
	return list
}

// TestStreamOrder: records wait until every processor has come as far, for the window at
// most; those that come later still are delivered at once, and counted.
func TestStreamOrder(t *testing.T) {
	h := etltest.DefaultHeader()
	h.Processors = 2
	const second = 1e7
	s := etl.NewStream(h, time.Second, math.MaxInt64)
	for _, step := range []struct {
		processor int
		times     []int64
		want      []uint32
	}{
		{0, []int64{100, 200, 500_000}, nil},
		{1, []int64{150, 300, 600_000}, []uint32{100, 150, 200, 300}},
		{0, []int64{700_000}, []uint32{500_000}}, // processor 1 may have something before 600,000
		{0, []int64{2 * second}, []uint32{600_000, 700_000}},
		{0, []int64{2*second + 600_000}, nil},
		{0, []int64{3*second + 1}, []uint32{2 * second}}, // processor 1 is silent for a second
		{1, []int64{second}, []uint32{second}},           // and late
	} {
		s.Add(bufferOf(t, h, step.processor, step.times...))
		if got := due(s); !slices.Equal(got, step.want) {
			t.Errorf("after %v: %v, want %v", step.times, got, step.want)
		}
	}
	s.Release()
	if got := due(s); !slices.Equal(got, []uint32{2*second + 600_000, 3*second + 1}) {
		t.Errorf("at the end: %v", got)
	}
	if n := s.Stats(); n.OutOfOrder != 1 || n.Records != 11 || n.Buffers != 7 || n.Damage.Count != 0 {
		t.Errorf("%+v", n)
	}
}

// TestStreamMemory: beyond the memory that is allowed, the oldest records do not wait.
func TestStreamMemory(t *testing.T) {
	h := etltest.DefaultHeader()
	h.Processors = 0
	s := etl.NewStream(h, time.Hour, 1000)
	s.Add(bufferOf(t, h, 0, 1))
	if got := due(s); got != nil {
		t.Errorf("%v", got)
	}
	for n := range int64(20) {
		s.Add(bufferOf(t, h, 0, 2+n))
	}
	if got := due(s); !slices.Contains(got, 1) || slices.Contains(got, 21) {
		t.Errorf("%v", got)
	}
}

// TestStreamDamage: faults of a buffer are counted, and the others are read.
func TestStreamDamage(t *testing.T) {
	h := etltest.DefaultHeader()
	s := etl.NewStream(h, 0, 0)
	good := bufferOf(t, h, 0, 1, 2, 3)
	wrong := slices.Clone(good)
	binary.LittleEndian.PutUint32(wrong[0x30:], 1<<30)
	broken := slices.Clone(good)
	broken[0x48+3] = 0x77
	large := slices.Clone(good[:0x60])
	large[0x34] = 0x40
	for _, b := range [][]byte{nil, good[:20], wrong, broken, large, good} {
		s.Add(b)
	}
	s.Release()
	if got := due(s); !slices.Equal(got, []uint32{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	if n := s.Stats(); n.Damage.Count != 5 || n.Undecodable != 1 || n.UnreadBytes == 0 {
		t.Errorf("%+v", n)
	}
}

// TestCountRecords counts the records of a buffer without decoding it.
func TestCountRecords(t *testing.T) {
	h := etltest.DefaultHeader()
	b := bufferOf(t, h, 0, 1, 2, 3)
	if n := etl.CountRecords(b); n != 3 {
		t.Errorf("%d records", n)
	}
	if n := etl.CountRecords(b[:50]) + etl.CountRecords(b[:80]); n != 0 {
		t.Errorf("%d records of a part", n)
	}
}

// TestStreamAllocs: a stream allocates nothing for a buffer, once it is warm.
func TestStreamAllocs(t *testing.T) {
	h := etltest.DefaultHeader()
	s := etl.NewStream(h, 0, 0, etl.WithoutSchemas(), etl.WithoutAttribution())
	b := bufferOf(t, h, 0, 1, 2, 3)
	var rec etw.Record
	read := func() {
		s.Add(b)
		s.Release()
		for s.Next(&rec) {
		}
	}
	read()
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("%v allocations for a buffer", n)
	}
}

// FuzzStream adds buffers that are damaged: nothing panics, and the delivered records take
// no more than the buffers can have.
func FuzzStream(f *testing.F) {
	for _, c := range compressions {
		h := etltest.DefaultHeader()
		h.Compression = c
		f.Add(bufferOf(f, h, 0, 1, 2, 3), bufferOf(f, h, 1, 2, 3, 4), uint16(c))
	}
	f.Fuzz(func(t *testing.T, first, second []byte, compression uint16) {
		h := etltest.DefaultHeader()
		h.Compression = etl.Compression(compression)
		s := etl.NewStream(h, time.Millisecond, 1<<20)
		var rec etw.Record
		n := 0
		for _, b := range [][]byte{first, second, first} {
			s.Add(b)
			etl.CountRecords(b)
			for s.Next(&rec) {
				n++
			}
		}
		s.Release()
		for s.Next(&rec) {
			n++
		}
		if s.Waiting() != 0 {
			t.Fatalf("%d bytes wait at the end", s.Waiting())
		}
		if most := (4<<20 + 3*129*(len(first)+len(second))) / 8; n > most {
			t.Fatalf("%d records of %d bytes", n, len(first)+len(second))
		}
	})
}
