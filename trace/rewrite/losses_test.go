package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/trace"
)

// TestLosses counts the losses of the parts of one session once.
func TestLosses(t *testing.T) {
	one, other := lossOf{clock: etw.Clock{Start: 1}}, lossOf{clock: etw.Clock{Start: 2}}
	l := make(losses)
	l.note(one, 7)
	l.note(one, 7)
	l.note(other, 5)
	if n := l.sum(); n != 12 {
		t.Errorf("%d events lost, want 12", n)
	}
}

// TestLossTables counts the losses of a file's parts once, and those of a session's files
// all together.
func TestLossTables(t *testing.T) {
	var l lossTables
	for _, threads := range []map[int64]int64{{7: 3, 8: 4}, {7: 3, 8: 4}, {7: 5}, {}, {9: 0}} {
		l.note(lossTable{clock: etw.Clock{Start: 1}, process: 2, threads: threads})
	}
	l.note(lossTable{clock: etw.Clock{Start: 2}, process: 2, threads: map[int64]int64{7: 5}})
	sum := int64(0)
	for _, table := range l {
		for _, n := range table.threads {
			sum += n
		}
	}
	if len(l) != 3 || sum != 17 {
		t.Errorf("%d events lost in %d tables, want 17 in 3", sum, len(l))
	}
}

// TestNames: a header has the names of all sessions, each once, as far as there is room.
func TestNames(t *testing.T) {
	var n names
	for _, name := range []string{"kernel", "", "user", "kernel"} {
		n.add(name)
	}
	if got := n.String(); got != "kernel; user" {
		t.Errorf("%q", got)
	}
	for i := range 1000 {
		n.add(fmt.Sprintf("session %d", 100+i))
	}
	if got := n.String(); len(got) > mostText+20 || !strings.HasSuffix(got, " more") || (names)(nil).String() != "" {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// A memory is a file in memory, whose header can be completed.
type memory struct{ bytes.Buffer }

func (m *memory) WriteAt(p []byte, at int64) (int, error) { return copy(m.Bytes()[at:], p), nil }

// passed reads a trace to its end, writes it anew, and returns the new one.
func passed(t *testing.T, data []byte, o Options) []byte {
	t.Helper()
	from, err := trace.Read("damaged", io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var out memory
	w, err := NewWriter(&out, from, o)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range from.Records() {
		if err == nil {
			err = w.Write(r)
		}
		if err != nil && !errors.Is(err, etw.ErrIncomplete) {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the counts of a trace, and the error at its end.
func read(t *testing.T, data []byte) (stats trace.Stats, end error) {
	t.Helper()
	f, err := trace.Read("new", io.NopCloser(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, end = range f.Records() {
	}
	return f.Stats(), end
}

// TestDamageStays: a trace that is written of a damaged one says that it is a part.
func TestDamageStays(t *testing.T) {
	h := etltest.DefaultHeader()
	h.BufferSize = 1 << 10
	var records []*etw.Record
	for i := range 100 {
		r := recordOf(new(clr.AnyGCStart))
		r.Timestamp, r.Payload = h.Clock.Origin+int64(i), make([]byte, 100)
		records = append(records, r)
	}
	whole := testio.Encoded(t, etltest.File, h, records...)
	buffers := len(whole) >> 10
	middle := append(bytes.Clone(whole[:5<<10]), whole[6<<10:]...)
	for _, c := range []struct {
		name string
		data []byte
		lost int
	}{{"whole", whole, 0}, {"end", whole[:4<<10], buffers - 4}, {"middle", middle, 1}} {
		out := passed(t, c.data, Options{})
		again := passed(t, out, Options{})
		for _, data := range [][]byte{out, again} {
			if n, end := read(t, data); n.LostBuffers != int64(c.lost) || n.Lost != 0 || end != nil {
				t.Errorf("%s: %d buffers and %d events lost, want %d buffers; %v", c.name, n.LostBuffers, n.Lost, c.lost, end)
			}
		}
		net := passed(t, c.data, Options{Nettrace: true})
		if n, end := read(t, net); n.Lost != int64(c.lost) || end != nil {
			t.Errorf("%s: %d events lost in a .nettrace, want %d; %v", c.name, n.Lost, c.lost, end)
		}
		if c.lost > 0 {
			continue
		}
		if _, end := read(t, passed(t, net[:len(net)-4], Options{})); !errors.Is(end, nettrace.ErrNotStopped) {
			t.Errorf("a .nettrace without its end: %v", end)
		}
	}
}
