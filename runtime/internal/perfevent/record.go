// Package perfevent reads the records that perf_event of Linux writes, into the rings of a
// program that records and, as they are, into files of perf.
package perfevent

import (
	"bytes"
	"math/bits"
)

// A Kind is the kind of a Record.
type Kind uint8

// The kinds of records.
const (
	Other   Kind = iota // what is of no use here
	Sample              // a thread was running, when a sample was due
	Blocked             // a thread stops running: the stack is where
	Gone                // a thread stops running
	Resumed             // a thread runs again
	Map                 // a part of a file, with code, is in the memory of a process
	Comm                // a thread has another name
	Fork                // a thread or a process was started
	Exit                // a thread ended
	Lost                // records were lost: the ring was full
	Symbol              // the kernel has a function more
	Traced              // a tracepoint was passed: Raw has it
)

// A Record is one record of the kernel.
type Record struct {
	Kind      Kind
	Exec      bool   // of Comm: since another program runs
	PID, TID  int32  // numbers of the namespace of who opened the session
	Parent    int32  // of Fork: the process that started it
	Processor int32  // -1 if that is not told
	Time      int64  // nanoseconds of CLOCK_MONOTONIC, or of the clock that was asked for
	ID        uint64 // of the event that it is of
	Stack     []byte // addresses of 64 bits, little-endian, the innermost first
	Period    uint64 // of Sample: how many of what is counted it stands for
	Raw       []byte // of Sample and Traced: the event of the kernel itself
	UserStack bool   // of Sample: it has a copy of the stack
	Copy      []byte // the copy, from where the stack's register points to
	Registers []byte // of user code, 64 bits each, little-endian, with a copy of the stack
	Mask      uint64 // which they are

	Start, Length, Offset uint64 // of Map, and of Symbol
	Data                  bool   // of Map: it has no code
	BuildID               []byte // of Map, if the kernel tells, or else
	File                  FileID // where the file is
	Name                  string // of Comm and Symbol, and the path of Map
	Count                 int64  // of Lost
	Extra                 int    // bytes more than its parts have, where all of them are known
}

// A FileID is the device and the number of a file there.
type FileID struct {
	Major, Minor uint32
	Inode        uint64
}

// The types of records, and the bits of their headers that matter, as the kernel has them.
const (
	TypeMmap        = 1
	TypeLost        = 2
	TypeComm        = 3
	TypeExit        = 4
	TypeFork        = 7
	TypeSample      = 9
	TypeMmap2       = 10
	TypeLostSamples = 13
	TypeSwitch      = 14
	TypeSwitchWide  = 15
	TypeSymbol      = 17

	MiscOut     = 1 << 13 // of a switch: away from the thread
	MiscExec    = 1 << 13 // of a name
	MiscData    = 1 << 13 // of a mapping
	MiscBuildID = 1 << 14

	// HeaderSize is that of the header of a record: type, bits, and the size of all of it.
	HeaderSize = 8
)

// Knows reports whether records of a type are read.
func Knows(kind uint32) bool {
	switch kind {
	case TypeMmap, TypeLost, TypeComm, TypeExit, TypeFork, TypeSample, TypeMmap2, TypeLostSamples, TypeSwitch, TypeSwitchWide, TypeSymbol:
		return true
	}
	return false
}

// Parse reads the bytes behind the header of a record, and reports whether it has all that
// its type has.
func (l *Layout) Parse(kind uint32, misc uint16, b []byte) (r Record, ok bool) {
	r.Processor = -1
	switch {
	case kind == TypeSample:
		r.Kind = Sample
		ok = l.sample(&r, b)
	case !Knows(kind):
		ok = l.fits(kind, len(b))
	default:
		n := l.trailerSize()
		if ok = len(b) >= n; ok {
			l.trailer(&r, b[len(b)-n:])
			ok = l.fits(kind, len(b)) && l.side(&r, kind, misc, b[:len(b)-n])
		}
	}
	return r, ok
}

// sizes are those of records that all have the same, without the parts that they end with.
var sizes = map[uint32]int{TypeLost: 16, TypeExit: 24, 5: 24, 6: 24, TypeFork: 24, 11: 24, 12: 8, TypeLostSamples: 8, TypeSwitch: 0, TypeSwitchWide: 8, 18: 16, 21: 8}

// fits reports whether a record has the size of its type. One of another size is of another type,
// whatever its header says.
func (l *Layout) fits(kind uint32, n int) bool {
	const read = 8
	size, fixed := sizes[kind]
	if kind == read && l.ReadFormat&readGroup == 0 {
		size, fixed = 16+8*bits.OnesCount64(l.ReadFormat&(readTimes|readID|readLost)), true
	}
	return !fixed || n == size+l.trailerSize()
}

// side reads the events beside samples.
func (l *Layout) side(r *Record, kind uint32, misc uint16, b []byte) bool {
	switch kind {
	case TypeSwitch, TypeSwitchWide:
		if r.Kind = Resumed; misc&MiscOut != 0 {
			r.Kind = Gone
		}
	case TypeMmap, TypeMmap2:
		return l.mapping(r, kind, misc, b)
	case TypeComm:
		if len(b) < 8 {
			return false
		}
		r.Kind, r.Exec, r.Name = Comm, misc&MiscExec != 0, text(b[8:])
		r.Extra = padding(b[8:], r.Name)
		r.PID, r.TID = l.int32(b), l.int32(b[4:])
	case TypeFork, TypeExit:
		if len(b) < 24 {
			return false
		}
		if r.Kind = Fork; kind == TypeExit {
			r.Kind = Exit
		}
		r.PID, r.Parent, r.TID = l.int32(b), l.int32(b[4:]), l.int32(b[8:])
		if at := int64(l.Order.Uint64(b[16:])); r.Time == 0 && at > 0 {
			r.Time = at
		}
	case TypeLost, TypeLostSamples:
		if kind == TypeLost && len(b) >= 8 {
			b = b[8:] // of which event
		}
		if len(b) < 8 {
			return false
		}
		r.Kind, r.Count = Lost, int64(l.Order.Uint64(b)&(1<<63-1))
	case TypeSymbol:
		const fixed, isGone = 16, 1
		if len(b) < fixed {
			return false
		}
		if l.Order.Uint16(b[14:])&isGone == 0 {
			r.Kind = Symbol
		}
		r.Start, r.Length, r.Name = l.Order.Uint64(b), uint64(l.Order.Uint32(b[8:])), text(b[fixed:])
	}
	return true
}

// mapping reads: process, thread, start, length, offset in the file; of the second type the
// identity of the file, protection, flags; path.
func (l *Layout) mapping(r *Record, kind uint32, misc uint16, b []byte) bool {
	const short, fixed, id, maxID, execute = 32, 64, 32, 20, 4
	if len(b) < short || kind == TypeMmap2 && len(b) < fixed {
		return false
	}
	r.Kind = Map
	r.PID, r.TID = l.int32(b), l.int32(b[4:])
	r.Start, r.Length, r.Offset = l.Order.Uint64(b[8:]), l.Order.Uint64(b[16:]), l.Order.Uint64(b[24:])
	if kind == TypeMmap {
		r.Name, r.Data = text(b[short:]), misc&MiscData != 0
		r.Extra = padding(b[short:], r.Name)
		return true
	}
	r.Name, r.Data = text(b[fixed:]), l.Order.Uint32(b[56:])&execute == 0
	r.Extra = padding(b[fixed:], r.Name)
	if misc&MiscBuildID != 0 {
		r.BuildID = bytes.Clone(b[id+4:][:min(int(b[id]), maxID)])
	} else {
		r.File = FileID{l.Order.Uint32(b[id:]), l.Order.Uint32(b[id+4:]), l.Order.Uint64(b[id+8:])}
	}
	return true
}

func (l *Layout) int32(b []byte) int32 { return int32(l.Order.Uint32(b)) }

// padding returns how many bytes stand behind a text that its end and its padding do not need.
func padding(b []byte, text string) int { return max(len(b)-len(text)-8, 0) }

// text returns the bytes before the first NUL.
func text(b []byte) string {
	before, _, _ := bytes.Cut(b, []byte{0})
	return string(before)
}
