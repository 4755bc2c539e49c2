package nettrace

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// longWay is decodeCompressed, header by header.
func (b *batch) longWay(in *eventBlock) bool {
	for in.at < len(in.data) && len(b.events) < cap(b.events) {
		payload, ok := in.next()
		if !ok {
			return false
		}
		b.append(&in.h, payload)
	}
	return true
}

// checkCompressed decodes a block in both ways, batch by batch.
func checkCompressed(t *testing.T, data []byte) (events int) {
	t.Helper()
	one, other := eventBlock{block: block{data: data}}, eventBlock{block: block{data: data}}
	for one.at < len(data) {
		var a, b batch
		room := 1 + len(data)%50
		a.begin(&page{events: make([]event, 0, batchEvents)}, &one)
		b.begin(&page{events: make([]event, 0, batchEvents)}, &other)
		a.events, b.events = slices.Clip(a.events[:room])[:0], slices.Clip(b.events[:room])[:0]
		want, got := a.longWay(&one), b.decodeCompressed(&other)
		if got != want || other.at != one.at || b.bound != a.bound {
			t.Fatalf("%v at %d, sort point %d; the long way %v at %d, %d", got, other.at, b.bound, want, one.at, a.bound)
		}
		if !slices.Equal(b.events, a.events) || !slices.Equal(b.contexts, a.contexts) {
			t.Fatalf("%+v\n%+v\nthe long way:\n%+v\n%+v", b.events, b.contexts, a.events, a.contexts)
		}
		one.h.Flags, one.h.SortPoint, other.h.Flags, other.h.SortPoint = 0, false, 0, false
		if want && !reflect.DeepEqual(other.h, one.h) {
			t.Fatalf("after %d bytes %+v\nthe long way: %+v", one.at, other.h, one.h)
		}
		events += len(a.events)
		if !want {
			break
		}
	}
	return events
}

// randomHeaders returns the headers of a block whose numbers are small, long, or wrong.
func randomHeaders(r *rand.Rand, n int) (b []byte) {
	number := func() uint64 {
		if r.IntN(20) == 0 {
			return r.Uint64()
		}
		return r.Uint64() >> (42 + r.IntN(22))
	}
	var last layout.EventHeader
	for range n {
		h := last
		switch r.IntN(8) {
		case 0:
			h.Metadata = uint32(number() % 3)
		case 1:
			h.Capture, h.Processor = number(), int32(number())
		case 2:
			h.Thread = number()
		case 3:
			h.Stack = uint32(number())
		case 4:
			h.Activity[0], h.Related[1] = byte(r.Uint32()), byte(r.Uint32()%2)
		case 5:
			h.Size = uint32(r.IntN(200))
		case 6:
			h.SortPoint = !h.SortPoint
		}
		h.Time += int64(number())
		if h.Sequence++; r.IntN(30) == 0 {
			h.Sequence += uint32(number())
		}
		b = h.Append(b, &last, false)
		b = append(b, make([]byte, h.Size)...)
		last = h
	}
	return b
}

// TestCompressed decodes headers quickly and the long way, whole, cut and damaged.
func TestCompressed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	events := 0
	for range 2000 {
		data := randomHeaders(r, 1+r.IntN(60))
		events += checkCompressed(t, data)
		checkCompressed(t, data[:r.IntN(len(data))])
		data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		checkCompressed(t, data)
	}
	if events < 20000 {
		t.Errorf("%d events in blocks that are not damaged", events)
	}
}

func FuzzCompressed(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(randomHeaders(r, 40))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkCompressed(t, data) })
}

// FuzzPush begins with traces of a few hundred bytes, so that many are tried.
func FuzzPush(f *testing.F) {
	for _, version := range []int{4, 6} {
		var out bytes.Buffer
		w, err := NewWriter(&out, Header{Version: version, ProcessID: 7})
		if err != nil {
			f.Fatal(err)
		}
		for i := range 12 {
			r := etw.Record{Provider: ProviderGUID("Shop"), ProviderName: "Shop", ID: uint16(i % 3), PointerSize: etw.Ptr64, Timestamp: int64(i), ProcessID: 7, ThreadID: int64(i % 2), Payload: []byte{byte(i)}}
			testio.Add(f, w, &r)
		}
		testio.Close(f, w)
		f.Add(out.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkPush(t, data) })
}
