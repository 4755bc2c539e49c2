package etl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etl/internal/layout"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Copy appends the record that r delivered last, byte for byte as it stands in its file:
// with all that a [etw.Record] has no room for. Rec is that record. If its Payload was
// replaced, the new one is written. A record of another clock gets the time of this file's,
// and so does the key that joins call stacks with their events.
//
// The header of a log file is not written twice: the Writer's own takes the facts from the
// first one that a [Header] lacks.
func (w *Writer) Copy(r *Reader, rec *etw.Record) error { return w.WriteFrom(rec, r.Origin()) }

// WriteFrom is Copy for a record of which the Origin is known.
func (w *Writer) WriteFrom(rec *etw.Record, raw Origin) error {
	if len(raw) < messageHeaderSize {
		return errors.New("etl: there is no record to copy")
	}
	if isLogHeader(rec) {
		if w.like == nil {
			w.like = bytes.Clone(raw)
		}
		return w.err
	}
	at := w.ticks(rec)
	w.note(at)
	timed, ok := recordTime(raw)
	if ok && timed == at && isPayloadOf(rec.Payload, raw) {
		return w.WriteRaw(rec.Processor, raw)
	}
	w.record = append(w.record[:0], raw...)
	if !isPayloadOf(rec.Payload, raw) && !w.replacePayload(rec) {
		return errTooLong
	}
	switch {
	case !ok && !w.addTime():
		return errTooLong
	case ok && timed == at:
	default:
		w.setTime(rec, at)
	}
	return w.WriteRaw(rec.Processor, w.record)
}

// An Origin is the bytes of a record as they stand in its file.
type Origin []byte

// Origin returns that of the record that Next returned last. It is valid until the next
// one.
func (r *Reader) Origin() Origin {
	b := r.current
	if b == nil || b.next >= len(b.entries) {
		return nil
	}
	return b.record(b.entries[b.next])
}

// isPayloadOf reports whether p is the end of raw, in the same memory. An empty one is not
// looked for: it costs little to write it anew.
func isPayloadOf(p, raw []byte) bool {
	return len(p) > 0 && &p[len(p)-1] == &raw[len(raw)-1]
}

// isLogHeader reports whether rec is the header of a log file.
func isLogHeader(rec *etw.Record) bool {
	return rec.Kind == etw.KindClassic && rec.Opcode == 0 && rec.Provider == eventTrace
}

// formOf returns how a classic event is written.
func formOf(rec *etw.Record) layout.Form {
	for i := range rec.Extended {
		if rec.Extended[i].Type == etw.ExtInstance {
			return layout.FormInstance
		}
	}
	if _, ok := classic.KernelGroup(rec.Provider, rec.Opcode); ok && rec.Level == 0 {
		return layout.FormSystem
	}
	return layout.FormFull
}

// replacePayload gives the record that is being copied the payload of rec. It
// reports whether there is room for it.
func (w *Writer) replacePayload(rec *etw.Record) bool {
	var old etw.Record
	w.filler.fill(&old, &block{file: new(file)}, w.record, 0)
	w.record = append(w.record[:len(w.record)-len(old.Payload)], rec.Payload...)
	return w.setSize()
}

// setSize puts its length into the record that is being copied, and reports whether
// that can be.
func (w *Writer) setSize() bool {
	if len(w.record) > layout.MaxRecord {
		return false
	}
	at := 0
	if w.record[3] == markerRecord && int(w.record[2]) < len(recordLayouts) {
		at = int(recordLayouts[w.record[2]].sizeAt)
	}
	binary.LittleEndian.PutUint16(w.record[at:], uint16(len(w.record)))
	return true
}

var errTooLong = fmt.Errorf("etl: the record would be longer than %d bytes", layout.MaxRecord)

// addTime makes room for a time in a message that has none: in another buffer it
// would take that of another neighbour.
func (w *Writer) addTime() bool {
	p := w.record
	options := messageOptions(p)
	at := messageHeaderSize + messageTimeAt(options)
	p = append(p, make([]byte, 8)...)
	copy(p[at+8:], p[at:])
	binary.LittleEndian.PutUint16(p[6:], options|messageTimestamp)
	w.record = p
	return w.setSize()
}

// setTime gives the record that is being copied the time stamp at.
func (w *Writer) setTime(rec *etw.Record, at int64) {
	p := w.record
	if p[3] == markerMessage {
		binary.LittleEndian.PutUint64(p[messageHeaderSize+messageTimeAt(messageOptions(p)):], uint64(at))
		return
	}
	l := &recordLayouts[p[2]]
	binary.LittleEndian.PutUint64(p[l.timeAt:], uint64(at))
	if rec.Provider == stackWalk && rec.Kind == etw.KindClassic && len(rec.Payload) >= 8 {
		switch rec.Opcode {
		case opStack, opStackKeyKernel, opStackKeyUser:
			of := p[len(p)-len(rec.Payload):]
			binary.LittleEndian.PutUint64(of, uint64(w.header.Clock.Convert(le64(of), rec.Clock)))
		}
	}
}

// The call stacks that come as records of their own begin with the time of the event
// that they belong to.
const (
	opStack          etw.Opcode = 32
	opStackKeyKernel etw.Opcode = 37
	opStackKeyUser   etw.Opcode = 38
	stackWalkGroup              = 0x18
)

var stackWalk, _ = classic.KernelClass(stackWalkGroup, opStack)

// ticks returns the time stamp of rec by the clock of the file.
func (w *Writer) ticks(rec *etw.Record) int64 {
	if !w.begun && rec.Clock != nil && w.header.Clock == (etw.Clock{}) {
		w.header.Clock = *rec.Clock
	}
	if rec.Clock != w.clock {
		w.clock = rec.Clock
		w.convert = rec.Clock != nil && *rec.Clock != w.header.Clock
	}
	if !w.convert {
		return rec.Timestamp
	}
	return w.header.Clock.Convert(rec.Timestamp, rec.Clock)
}
