package session

import (
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestDrop: a session that drops counts the events it drops, and delivers the others.
func TestDrop(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s", Consumption: Consumption{QueueBytes: 1 << 20, WhenFull: Drop}})
	const events = 50000
	f.session("s").feed(0, events)
	if _, err := Stop("s"); err != nil { // by name, so that the queue does not make room for the rest
		t.Fatal(err)
	}
	<-s.consumer.returned
	got := drain(t, s)
	n := s.Stats()
	if len(got) == 0 || n.DroppedEvents == 0 || int64(len(got))+n.DroppedEvents != events || n.Records != int64(len(got)) {
		t.Errorf("%d events, %+v", len(got), n)
	}
	if !n.HasLosses() {
		t.Error("no losses")
	}
	t.Log(n)
}

// TestDropBuffers: of whole buffers the events are counted.
func TestDropBuffers(t *testing.T) {
	q := newQueue(1<<20, Drop, make(chan struct{}))
	for range 20 {
		q.put(chunk{data: make([]byte, 100<<10)}, func([]byte) int { return 7 })
	}
	if events, buffers := q.dropped(); events != 7*buffers || buffers != 10 {
		t.Errorf("%d events in %d buffers", events, buffers)
	}
}

// TestLosses: losses of all kinds come together.
func TestLosses(t *testing.T) {
	f := install(t)
	s := begin(t, Config{Name: "s"})
	session := f.session("s")
	f.mu.Lock()
	session.p.eventsLost, session.p.logBuffersLost, session.p.realTimeBuffersLost = 3, 4, 5
	f.mu.Unlock()
	for _, opcode := range []etw.Opcode{opLostEvent, opLostBuffer, opLostFile, 35} {
		session.items <- fakeItem{event: newEvent(&etw.Record{Kind: etw.KindClassic, Provider: lostEventClass, Opcode: opcode, PointerSize: etw.Ptr64})}
	}
	var rec etw.Record
	for range 4 {
		if err := s.Next(&rec); err != nil {
			t.Fatal(err)
		}
	}
	n := s.Stats()
	if n.Lost != 3 || n.LostLogBuffers != 4 || n.LostBuffers != 5 || n.NoticedEvents != 1 || n.NoticedBuffers != 1 || n.NoticedFiles != 1 {
		t.Errorf("%+v", n)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats(); n.Lost != 3 {
		t.Errorf("after the end: %+v", n)
	}
}

// TestWindowEvents: single events can be had to wait, too.
func TestWindowEvents(t *testing.T) {
	s := newEventStream(&etw.Clock{Frequency: 1e7}, etw.Ptr64, &Consumption{Window: time.Second, WindowBytes: 1 << 20}, func([]byte) {})
	add := func(numbers ...int) {
		var data []byte
		for _, n := range numbers {
			data = appendEvent(data, &newEvent(numbered(n)).Record)
		}
		s.add(chunk{data, len(numbers)})
	}
	due := func() (n int) {
		var rec etw.Record
		for s.next(&rec) {
			n++
		}
		return n
	}
	add(1, 2, 3)
	if n := due(); n != 0 {
		t.Errorf("%d did not wait", n)
	}
	add(1_000_002)
	if n := due(); n != 2 {
		t.Errorf("%d did not wait, want 2", n)
	}
	s.release()
	if n := due(); n != 2 || s.waits() || s.waiting != 0 {
		t.Errorf("%d at the end, %d bytes wait", n, s.waiting)
	}
}

// TestEventAllocs: an event that is taken and read allocates nothing.
func TestEventAllocs(t *testing.T) {
	q := newQueue(1<<20, Block, make(chan struct{}))
	s := newEventStream(new(etw.Clock), etw.Ptr64, &Consumption{WindowBytes: 1 << 20, WithoutSchemas: true, WithoutAttribution: true}, q.recycle)
	e := newEvent(numbered(1))
	var rec etw.Record
	read := func() {
		data := q.memory(batchSize)
		for range 100 {
			data = appendEvent(data, &e.Record)
		}
		q.put(chunk{data, 100}, nil)
		c, _ := q.take(0)
		s.add(c)
		for s.next(&rec) {
		}
	}
	read()
	if n := testing.AllocsPerRun(100, read); n != 0 {
		t.Errorf("%v allocations for 100 events", n)
	}
}

// TestFallBack: where whole buffers cannot be had after all, events are.
func TestFallBack(t *testing.T) {
	install(t)
	if s := begin(t, Config{Name: "a"}); s.DeliversBuffers() {
		t.Error("buffers, of a system that has none")
	}
	if _, err := Start(t.Context(), Config{Name: "b", Consumption: Consumption{Delivery: DeliverBuffers}}); err == nil {
		t.Error("no error")
	}
	f := install(t)
	f.buffers = true
	if s := begin(t, Config{Name: "c", Consumption: Consumption{Delivery: DeliverEvents}}); s.DeliversBuffers() {
		t.Error("buffers, though events were asked for")
	}
	if s := begin(t, Config{Name: "d"}); !s.DeliversBuffers() || s.Header().ClockType != etl.ClockQPC {
		t.Error("no buffers")
	}
}
