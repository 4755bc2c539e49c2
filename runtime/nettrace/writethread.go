package nettrace

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/internal/layout"
)

// A threadTable numbers the events of each thread that logs some, and has the table
// of threads of version 6.
type threadTable struct {
	states map[uint64]*writtenThread // by id, in version 6 by index
	recent [64]*writtenThread
	order  []uint64 // keys of states, sorted, unless there are new ones

	// Version 6: the indexes of threads, by process and thread where that is all, and by
	// their other facts. Pointers are those of one Reader.
	ids      map[threadKey]uint64
	named    map[string]uint64
	pointers map[*Thread]uint64
	next     uint64
	rows     int
	pending  []byte // rows that are not in the stream yet
}

type threadKey struct{ process, thread int64 }

// A writtenThread is a thread that logged events.
type writtenThread struct {
	id       uint64
	sequence uint32 // of its last event
	lost     uint32 // events since then
}

// next returns the number of the next event.
func (t *writtenThread) next() uint32 {
	if t.sequence > 0 { // what is lost before the first one is told by a sequence point
		t.sequence += t.lost
		t.lost = 0
	}
	t.sequence++
	return t.sequence
}

func (t *threadTable) begin(w *Writer) {
	*t = threadTable{states: make(map[uint64]*writtenThread)}
	if w.v6 {
		t.ids, t.named, t.pointers = make(map[threadKey]uint64), make(map[string]uint64), make(map[*Thread]uint64)
	}
}

// set puts the threads of a record into h, and returns the one that logged it.
func (t *threadTable) set(w *Writer, h *layout.EventHeader, rec *etw.Record, o *Origin) (*writtenThread, error) {
	if !w.v6 {
		h.Thread, h.Capture = uint64(rec.ThreadID), o.CaptureThread
		return t.state(h.Capture), nil
	}
	var err error
	if h.Thread, err = t.index(w, rec.ProcessID, rec.ThreadID, o.Thread); err != nil {
		return nil, err
	}
	h.Capture = h.Thread
	switch {
	case o.Capture != nil:
		h.Capture, err = t.index(w, o.Capture.ProcessID, o.Capture.ThreadID, o.Capture)
	case o.Thread == nil && o.CaptureThread != uint64(rec.ThreadID): // of version 4
		h.Capture, err = t.index(w, rec.ProcessID, int64(o.CaptureThread), nil)
	}
	if err != nil {
		return nil, err
	}
	return t.state(h.Capture), nil
}

// state returns the state of the thread that logs.
func (t *threadTable) state(id uint64) *writtenThread {
	slot := &t.recent[id*0x9e3779b97f4a7c15>>58]
	if s := *slot; s != nil && s.id == id {
		return s
	}
	s := t.states[id]
	if s == nil {
		s = &writtenThread{id: id}
		t.states[id] = s
	}
	*slot = s
	return s
}

// index returns the index of a thread in the table of version 6. Row is the other facts
// about it, or nil.
func (t *threadTable) index(w *Writer, process, thread int64, row *Thread) (uint64, error) {
	if row == nil || row.Name == "" && len(row.Keys) == 0 {
		key := threadKey{process, thread}
		index, ok := t.ids[key]
		if !ok {
			index, _ = t.add(w, &Thread{ProcessID: process, ThreadID: thread}) // of a few bytes
			t.ids[key] = index
		}
		return index, nil
	}
	if index, ok := t.pointers[row]; ok {
		return index, nil
	}
	text := fmt.Sprintf("%d %d %q %q", process, thread, row.Name, row.Keys)
	index, ok := t.named[text]
	if !ok {
		var err error
		if index, err = t.add(w, &Thread{Name: row.Name, ProcessID: process, ThreadID: thread, Keys: row.Keys}); err != nil {
			return 0, err
		}
		t.named[text] = index
	}
	if len(t.pointers) > pointItems {
		clear(t.pointers)
	}
	t.pointers[row] = index
	return index, nil
}

// add appends a row to the table.
func (t *threadTable) add(w *Writer, row *Thread) (uint64, error) {
	b := binary.AppendUvarint(nil, t.next+1)
	if row.Name != "" {
		b = layout.AppendText(append(b, layout.ThreadName), row.Name)
	}
	if row.ProcessID != w.header.ProcessID {
		b = binary.AppendUvarint(append(b, layout.ThreadProcess), unknownID(row.ProcessID))
	}
	if row.ThreadID >= 0 {
		b = binary.AppendUvarint(append(b, layout.ThreadID), uint64(row.ThreadID))
	}
	for _, kv := range row.Keys {
		b = layout.AppendText(layout.AppendText(append(b, layout.ThreadKeyValue), kv.Key), kv.Value)
	}
	if len(b) > math.MaxUint16 {
		return 0, fmt.Errorf("nettrace: a name and keys of a thread of %d bytes are longer than %d: %w", len(b), math.MaxUint16, ErrTooLong)
	}
	t.next++
	t.rows += 1 + len(row.Keys)
	t.pending = layout.AppendSized(t.pending, b)
	return t.next, nil
}

// unknownID returns how an id is written, of which -1 is not known.
func unknownID(id int64) uint64 {
	if id < 0 {
		return math.MaxUint32
	}
	return uint64(id)
}

// flush writes the rows that are not in the stream yet.
func (t *threadTable) flush(w *Writer) {
	if len(t.pending) > 0 {
		w.writeBlock(layout.KindThreads, t.pending)
		t.pending = t.pending[:0]
	}
}

// lost notes that events of a thread were lost.
func (t *threadTable) lost(w *Writer, process, thread int64, n uint32) {
	id := uint64(max(thread, 0))
	if w.v6 {
		id, _ = t.index(w, process, thread, nil) // of a few bytes
	}
	t.state(id).lost += n
}

// appendNumbers appends the numbers of the last events of all threads, lost ones
// among them.
func (t *threadTable) appendNumbers(b []byte, v6 bool) []byte {
	if len(t.order) != len(t.states) {
		t.order = slices.Sorted(maps.Keys(t.states))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.order)))
	for _, id := range t.order {
		s := t.states[id]
		s.sequence += s.lost
		s.lost = 0
		if v6 {
			b = binary.AppendUvarint(b, id)
			b = binary.AppendUvarint(b, uint64(s.sequence))
		} else {
			b = binary.LittleEndian.AppendUint64(b, id)
			b = binary.LittleEndian.AppendUint32(b, s.sequence)
		}
	}
	return b
}
