package rewrite

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A context switch is of the thread that runs from then on. When this stopped tells one that is of
// another thread, and when it could run again the event of whoever woke it.
var (
	threadClass  = etw.Versions(new(kernel.AnyThreadCSwitch))[0].Class
	threadSwitch = opcode(new(kernel.AnyThreadCSwitch))
	threadReady  = opcode(new(kernel.AnyThreadReadyThread))
	threadStart  = opcode(new(kernel.AnyThreadStart))
	threadListed = opcode(new(kernel.AnyThreadDCStart))
)

// perfClass is that of samples of processors, and of routines of interrupts.
var perfClass = etw.Versions(new(kernel.AnyPerfInfoSetInterval))[0].Class

// maxRunners bounds the threads that damage can name.
const maxRunners = 1 << 20

// runners are the threads of chosen records, by their numbers.
type runners map[uint32]bool

// chose notes the thread that a chosen record of the kernel is about.
func (t *runners) chose(r *etw.Record) {
	at, ok := subjectOf(r)
	if !ok || len(*t) >= maxRunners {
		return
	}
	if *t == nil {
		*t = make(runners)
	}
	(*t)[binary.LittleEndian.Uint32(r.Payload[at:])] = true
}

// needs reports whether a record tells when one of the threads stopped, or could run.
func (t runners) needs(r *etw.Record) bool {
	at, ok := subjectOf(r)
	if !ok || len(t) == 0 {
		return false
	}
	thread := binary.LittleEndian.Uint32(r.Payload[at:])
	switch r.Opcode {
	case threadReady:
		return t[thread]
	case threadSwitch:
		delete(t, thread) // its number is that of another one now
		return t[binary.LittleEndian.Uint32(r.Payload[4:])]
	}
	delete(t, thread)
	return false
}

// subjectOf returns where in the payload of an event the thread stands that it is about: of a
// switch the one that runs from then on.
func subjectOf(r *etw.Record) (at int, ok bool) {
	if r.Kind != etw.KindClassic || r.Provider != threadClass || len(r.Payload) < 8 {
		return 0, false
	}
	switch r.Opcode {
	case threadSwitch, threadReady:
		return 0, true
	case threadStart, threadListed:
		return 4, true
	}
	return 0, false
}

// A role is that of a record for the threads of a processor.
type role uint8

const (
	noRole   role = iota
	aSwitch       // which thread is on
	aReady        // of which the thread that is on made another one ready
	aSample       // that there still were events
	newOwner      // that the number of a thread has another one
)

// aPerfSample is the opcode of samples of processors.
const aPerfSample = 46

func roleOf(r *etw.Record) role {
	switch {
	case r.Kind != etw.KindClassic:
	case r.Provider == perfClass && r.Opcode == aPerfSample:
		return aSample
	case r.Provider != threadClass || len(r.Payload) < 8:
	case r.Opcode == threadSwitch:
		return aSwitch
	case r.Opcode == threadReady:
		return aReady
	case r.Opcode == threadStart:
		return newOwner
	}
	return noRole
}

// Wakers tell of all threads when they ran and who made them ready, if a trace has the latter.
type wakers struct {
	switches int // before the first of these events
	are      bool
}

// maxUnwoken is how many switches there are before it is taken that no event tells who made threads ready.
const maxUnwoken = 1 << 14

// tell reports whether a record does.
func (w *wakers) tell(r *etw.Record) bool {
	switch roleOf(r) {
	case aReady:
		w.are = true
		return true
	case aSwitch:
		w.switches++
		return w.are || w.switches < maxUnwoken
	}
	return false
}
