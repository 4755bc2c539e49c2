package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// countEvents reads a stream to its end and returns how many records it has.
func countEvents(t *testing.T, data []byte) (n int, r *nettrace.Reader, err error) {
	t.Helper()
	r, err = nettrace.NewReader(struct{ io.ReadSeeker }{bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	var rec etw.Record
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
		if len(rec.Payload) > 0 && rec.Payload[0] == 0 {
			t.Error("an event is made of zeros")
		}
		n++
	}
	return n, r, err
}

// TestLossOfDamage reads numbers that make no sense after damage: they are no losses. The same
// of a stream that is whole are, and so are those that two numbers agree on.
func TestLossOfDamage(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		w := nettracetest.NewWriter(6, nettracetest.Trace{})
		w.Metadata(nettracetest.Row{ID: 1, Provider: "P", Name: "E"})
		w.Threads(nettracetest.Thread{Index: 1})
		event := nettracetest.Event{Metadata: 1, Thread: 1, Time: 1, Payload: []byte{1}}
		w.Events(event)
		if damaged {
			w.Block(2, []byte{1, 2, 3}) // no header
		}
		event.Lost = 1_000_000
		w.Events(event)
		event.Lost = 0
		w.Events(event)
		const threads = 1000
		b := binary.LittleEndian.AppendUint64(nil, 2)
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint32(b, threads)
		for i := range uint64(threads) {
			b = binary.AppendUvarint(binary.AppendUvarint(b, 100+i), 1<<30)
		}
		w.Block(4, b)
		w.End()
		n, r, err := countEvents(t, w.Bytes())
		want := int64(1_000_000 + threads<<30)
		if damaged {
			want = 1_000_000
		}
		if s := r.Stats(); n != 3 || s.Lost != want || (err == io.EOF) == damaged {
			t.Errorf("damaged %v: %d events, %v, %d lost, want %d", damaged, n, err, s.Lost, want)
		}
	}
}

// TestIsBrokenOff tells streams that end too early from those that are damaged.
func TestIsBrokenOff(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "P", Name: "E"})
	w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: 1, Payload: []byte{1}})
	whole := w.Offset()
	w.End()
	data := w.Bytes()
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{"whole": {data, false}, "not stopped": {data[:whole], true}, "cut": {data[:whole-5], true}, "garbage": {append(bytes.Clone(data[:whole]), bytes.Repeat([]byte("garbage"), 100)...), false}} {
		_, _, err := countEvents(t, c.data)
		if got := nettrace.IsBrokenOff(err); got != c.want {
			t.Errorf("%s: %v, of %v", name, got, err)
		}
	}
	if nettrace.IsBrokenOff(nil) || nettrace.IsBrokenOff(io.EOF) || nettrace.IsBrokenOff(&etw.IncompleteError{Count: 1}) {
		t.Error("what is no broken stream is one")
	}
}

// TestDeepAfterDamage reads deep stacks with damage among them, in memory in proportion.
func TestDeepAfterDamage(t *testing.T) {
	w, out := widthWriter(t, 6)
	for i := range 100 {
		r := widthRecord(int64(i))
		r.Stack = deepStack(8000, i)
		testio.Add(t, w, r)
	}
	testio.Close(t, w)
	data := out.Bytes()
	copy(data[len(data)/2:], bytes.Repeat([]byte{0xa5}, 200_000))
	n := 0
	used := allocated(func() { n, _, _ = countEvents(t, data) })
	if n < 80 || used > 4<<20+4*uint64(len(data)) {
		t.Errorf("%d events of %d bytes took %d", n, len(data), used)
	}
}
