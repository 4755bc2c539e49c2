package ctf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A File is one of a trace: the metadata, or a stream, which has the events of one channel and,
// in most traces, of one processor.
type File struct {
	Name string // without a folder
	Data io.ReaderAt
	Size int64
}

// Metadata is the name of the file that says how the streams are laid out.
const Metadata = "metadata"

// A reading is the state of a stream.
type reading struct {
	decoder
	name  string
	model *model
	log   *etw.DamageLog
	stats *Stats

	next    int64 // where the packet after this one begins
	after   int64 // where its content ends
	astray  bool  // no packet can be at next
	of      *streamClass
	begun   bool
	first   int64  // when the first packet begins, 0 without one
	dropped uint64 // events up to this packet that found no room
	follows uint64 // the number that the next packet has

	class *class // of the event that was read
	id    uint64
	desc  *etw.EventDesc
	at    int64 // when it was, in nanoseconds since 1970
	cpu   int32
	pid   int64
	tid   int64
}

func (r *reading) damage(part string, err error) {
	r.log.Add(&etw.Damage{Format: "ctf", File: r.name, Offset: r.packet + r.cursor.at/8, Part: part, Err: err})
}

// advance reads the next event, and reports whether there is one.
func (r *reading) advance() bool {
	for {
		for r.cursor.at < r.end {
			err := r.event()
			if err == nil {
				return true
			}
			r.stats.Undecodable++
			r.damage("event", fmt.Errorf("%w; the rest of its packet is left out", err))
			r.cursor.at = r.end
		}
		if !r.nextPacket() {
			return false
		}
	}
}

// nextPacket goes to the next packet that is one, and reports whether there is one. Where the
// size of a packet does not lead to another, those are searched for that it may span.
func (r *reading) nextPacket() bool {
	from := r.after
	if r.astray && !r.search(from) {
		r.next = r.size
	}
	for r.astray = false; r.next < r.size; {
		at := r.next
		err := r.header(at)
		if err == nil {
			return true
		}
		r.damage("packet", err)
		if r.err != nil || !r.search(from) || r.next == at && !r.search(at+1) {
			break
		}
		from = r.next + 1
	}
	r.start(r.size, 0)
	r.window, r.values, r.payload = nil, nil, nil // which many streams would else keep
	return false
}

// search finds the next place at which a packet of the trace may begin.
func (r *reading) search(from int64) bool {
	n := r.model.header
	if n == nil || n.path("magic") == nil || n.path("magic").size != 32 {
		return false
	}
	magic := make([]byte, 4)
	binary.LittleEndian.PutUint32(magic, streamMagic)
	if n.path("magic").big {
		binary.BigEndian.PutUint32(magic, streamMagic)
	}
	for r.start(from, r.size-from); r.cursor.at < r.end; {
		p := r.peek(windowSize)
		if i := bytes.Index(p, magic); i >= 0 {
			r.next = from + r.cursor.at/8 + int64(i)
			return true
		}
		if len(p) < 4 {
			return false
		}
		r.cursor.at += int64(len(p)-3) * 8
	}
	return false
}

// streamMagic begins each packet of a stream.
const streamMagic = 0xC1FC1FC1

// header reads the headers of the packet at a place.
func (r *reading) header(at int64) error {
	r.start(at, r.size-at)
	r.begin()
	m := r.model
	if err := r.node(m.header); err != nil {
		return err
	}
	if v, ok := r.kept(m.magic); ok && v != streamMagic {
		return fmt.Errorf("it begins with %#x, where packets begin with %#x", v, uint32(streamMagic))
	}
	if m.hasUUID && !bytes.Contains(r.payload, m.uuid) {
		return errOther
	}
	id, _ := r.kept(m.streamID)
	of := m.streams[id]
	if of == nil {
		return fmt.Errorf("it is of stream %d, which the metadata do not have", id)
	}
	if of.err != nil {
		return of.err
	}
	r.of, r.clock = of, 0
	if err := r.node(of.packet); err != nil {
		return err
	}
	return r.extent()
}

// extent takes how long the packet is, and its other facts.
func (r *reading) extent() error {
	left, of := r.end, r.of
	size, sized := r.kept(of.packetSize)
	content, known := r.kept(of.contentSize)
	switch {
	case !sized && known:
		size = (content + 7) &^ 7
	case !sized:
		size = uint64(left)
	}
	if !known {
		content = size
	}
	if size%8 != 0 || size == 0 || content > size || content < uint64(r.cursor.at) {
		return fmt.Errorf("it says that it has %d of %d bits", content, size)
	}
	r.next = r.packet + int64(min(size, uint64(left)))/8
	r.end = int64(min(content, uint64(left)))
	r.after = r.packet + (r.end+7)/8
	if size > uint64(left) {
		r.damage("packet", fmt.Errorf("the file ends after %d of its %d bytes", left/8, size/8))
		r.astray = true
	}
	if v, ok := r.kept(of.begin); ok {
		if r.clock = v; r.first == 0 {
			r.first = r.model.time(v)
		}
	}
	if r.cpu = -1; of.cpu != nil {
		v, _ := r.kept(of.cpu)
		r.cpu = int32(min(v, 1<<30))
	}
	r.losses()
	r.stats.Packets++
	return nil
}

// losses counts the events that were lost before the end of the packet, by its account.
func (r *reading) losses() {
	if v, ok := r.kept(r.of.discarded); ok {
		if r.of.discarded.size < 64 {
			v |= r.dropped &^ (1<<r.of.discarded.size - 1) // it counts on from 0
			if v < r.dropped {
				v += 1 << r.of.discarded.size
			}
		}
		if v > r.dropped && v-r.dropped < 1<<62 {
			r.stats.Lost += int64(v - r.dropped)
		}
		r.dropped = v
	}
	if v, ok := r.kept(r.of.sequence); ok {
		if r.begun && v > r.follows && v-r.follows < 1<<62 {
			r.stats.LostPackets += int64(v - r.follows)
		}
		r.begun, r.follows = true, v+1
	}
}

// kept returns a value that was kept.
func (d *decoder) kept(n *node) (uint64, bool) {
	if n == nil || n.slot < 0 {
		return 0, false
	}
	return d.values[n.slot], true
}

// The faults of a packet and of an event that need no number.
var (
	errOther   = errors.New("it is of another trace than the metadata")
	errNothing = errors.New("it takes no room")
)

// event reads an event.
func (r *reading) event() error {
	at, of := r.cursor.at, r.of
	r.begin()
	if err := r.node(of.header); err != nil {
		return err
	}
	r.id, _ = r.kept(of.eventID)
	class, err := r.model.class(of, r.id)
	if err != nil {
		return err
	}
	r.class = class
	r.begin()
	if err := r.node(of.context); err != nil {
		return err
	}
	if err := r.node(class.context); err != nil {
		return err
	}
	context := len(r.payload)
	if err := r.node(class.fields); err != nil {
		return err
	}
	if r.cursor.at == at {
		return errNothing
	}
	r.payload = class.order(r.payload, context)
	r.pid, r.tid = r.owner()
	r.at, r.desc = r.model.time(r.clock), class.describe(r.choices)
	return nil
}

// owner returns the process and the thread of an event, -1 where it does not say.
func (r *reading) owner() (pid, tid int64) {
	pid, tid = -1, -1
	if v, ok := r.kept(r.of.pid); ok {
		pid = int64(int32(v))
	}
	if v, ok := r.kept(r.of.tid); ok {
		tid = int64(int32(v))
	}
	return pid, tid
}
