package perf

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A Kind says what a Record tells.
type Kind uint8

// The kinds of records.
const (
	Other   Kind = iota // what is of no use here
	Sample              // a thread was running, when a sample was due
	Blocked             // a thread stops running: the stack is where
	Resumed             // a thread runs again
	Map                 // a part of a file, with code, is in the memory of a process
	Comm                // a thread has another name
	Fork                // a thread or a process was started
	Exit                // a thread ended
	Lost                // records were lost: the ring was full
)

// A Record is one record of the kernel.
type Record struct {
	Kind      Kind
	Exec      bool   // of Comm: since another program runs
	PID, TID  int32  // numbers of the namespace of who opened the session
	Parent    int32  // of Fork: the process that started it
	Processor int32  // -1 if that is not told
	Time      int64  // nanoseconds of CLOCK_MONOTONIC
	Stack     []byte // addresses of 64 bits, little-endian, the innermost first

	Start, Length, Offset uint64 // of Map
	BuildID               []byte // of Map, if the kernel tells, or else
	File                  FileID // where the file is
	Name                  string // of Comm, and the path of Map
	Count                 int64  // of Lost
}

// A FileID is the device and the number of a file there.
type FileID struct {
	Major, Minor uint32
	Inode        uint64
}

// The types of records, and the bits of their headers that matter, as the kernel has them.
const (
	typeLost        = 2
	typeComm        = 3
	typeExit        = 4
	typeFork        = 7
	typeSample      = 9
	typeMmap2       = 10
	typeLostSamples = 13
	typeSwitch      = 14
	typeSwitchWide  = 15

	miscOut     = 1 << 13 // of a switch: away from the thread
	miscExec    = 1 << 13 // of a name
	miscBuildID = 1 << 14

	headerSize = 8
	// What stands at the end of each record but samples: process and thread, time,
	// processor, and the number of the event that it is of.
	trailerSize = 32
)

// Addresses from here on are marks of what comes next in a stack.
const firstMark = ^uint64(4095) + 1

// A parser reads records. It has the numbers of the events that are not for samples but for
// switches.
type parser struct {
	switches map[uint64]bool
}

// next reads the first record of b and returns how many bytes it has. A record that does
// not fit into b, or is not what its type says, is an error; n then is 0 if nothing after
// it can be read.
func (p *parser) next(b []byte) (rec Record, n int, err error) {
	if len(b) < headerSize {
		return rec, 0, fmt.Errorf("perf: %d bytes are left, which is no header", len(b))
	}
	kind, misc := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])
	n = int(binary.LittleEndian.Uint16(b[6:]))
	if n < headerSize || n > len(b) {
		return rec, 0, fmt.Errorf("perf: a record of type %d has %d bytes, of %d that are left", kind, n, len(b))
	}
	body := b[headerSize:n]
	rec.Processor = -1
	ok := true
	if kind == typeSample {
		ok = p.sample(&rec, body)
	} else if known(kind) {
		if ok = len(body) >= trailerSize; ok {
			rec.trailer(body[len(body)-trailerSize:])
			ok = rec.side(kind, misc, body[:len(body)-trailerSize])
		}
	}
	if !ok {
		err = fmt.Errorf("perf: a record of type %d is too short, with %d bytes", kind, n)
	}
	return rec, n, err
}

func known(kind uint32) bool {
	switch kind {
	case typeLost, typeComm, typeExit, typeFork, typeMmap2, typeLostSamples, typeSwitch, typeSwitchWide:
		return true
	}
	return false
}

// sample reads: the number of the event, process and thread, time, processor, stack.
func (p *parser) sample(rec *Record, b []byte) bool {
	const fixed = 40
	if len(b) < fixed {
		return false
	}
	rec.Kind = Sample
	if p.switches[binary.LittleEndian.Uint64(b)] {
		rec.Kind = Blocked
	}
	rec.PID, rec.TID = int32(binary.LittleEndian.Uint32(b[8:])), int32(binary.LittleEndian.Uint32(b[12:]))
	rec.Time = int64(binary.LittleEndian.Uint64(b[16:]))
	rec.Processor = int32(binary.LittleEndian.Uint32(b[24:]))
	count, b := binary.LittleEndian.Uint64(b[32:]), b[fixed:]
	if count > uint64(len(b)/8) {
		return false
	}
	for ; count > 0; count-- {
		if binary.LittleEndian.Uint64(b) < firstMark {
			rec.Stack = append(rec.Stack, b[:8]...)
		}
		b = b[8:]
	}
	return true
}

func (r *Record) trailer(b []byte) {
	r.PID, r.TID = int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))
	r.Time = int64(binary.LittleEndian.Uint64(b[8:]))
	r.Processor = int32(binary.LittleEndian.Uint32(b[16:]))
}

// side reads what is told beside samples.
func (r *Record) side(kind uint32, misc uint16, b []byte) bool {
	switch kind {
	case typeSwitch, typeSwitchWide:
		if misc&miscOut == 0 {
			r.Kind = Resumed
		}
	case typeMmap2:
		return r.mapping(misc, b)
	case typeComm:
		if len(b) < 8 {
			return false
		}
		r.Kind, r.Exec, r.Name = Comm, misc&miscExec != 0, text(b[8:])
		r.PID, r.TID = int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))
	case typeFork, typeExit:
		if len(b) < 24 {
			return false
		}
		r.Kind = Fork
		if kind == typeExit {
			r.Kind = Exit
		}
		r.PID, r.Parent = int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))
		r.TID = int32(binary.LittleEndian.Uint32(b[8:]))
	case typeLost, typeLostSamples:
		if kind == typeLost && len(b) >= 8 {
			b = b[8:] // of which event
		}
		if len(b) < 8 {
			return false
		}
		r.Kind, r.Count = Lost, int64(binary.LittleEndian.Uint64(b)&(1<<63-1))
	}
	return true
}

// mapping reads: process, thread, start, length, offset in the file, what identifies the
// file, protection, flags, path.
func (r *Record) mapping(misc uint16, b []byte) bool {
	const fixed, id, maxID = 64, 32, 20
	if len(b) < fixed {
		return false
	}
	r.Kind, r.Name = Map, text(b[fixed:])
	r.PID, r.TID = int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))
	r.Start, r.Length, r.Offset = binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
	if misc&miscBuildID != 0 {
		r.BuildID = bytes.Clone(b[id+4:][:min(int(b[id]), maxID)])
	} else {
		r.File = FileID{binary.LittleEndian.Uint32(b[id:]), binary.LittleEndian.Uint32(b[id+4:]), binary.LittleEndian.Uint64(b[id+8:])}
	}
	return true
}

// text returns what stands before the first NUL.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}

// unroll appends what a ring holds from tail up to head, which count bytes since its begin.
func unroll(out, ring []byte, tail, head uint64) []byte {
	size := uint64(len(ring))
	if size == 0 || head < tail || head-tail > size {
		return out
	}
	from, n := tail%size, head-tail
	first := min(n, size-from)
	out = append(out, ring[from:from+first]...)
	return append(out, ring[:n-first]...)
}
