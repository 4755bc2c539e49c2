package classic

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Opcodes of the classes that attribution looks at.
const (
	opStart = 1
	opStop  = 2
	// opDCStart and opDCStop describe the state when the recording began and ended.
	opDCStart = 3
	opDCStop  = 4

	opDiskRead      = 10
	opDiskWrite     = 11
	opDiskReadInit  = 12
	opDiskWriteInit = 13
	opDiskFlush     = 14
	opDiskFlushInit = 15

	opHardFault    = 32
	opVirtualAlloc = 98
	opVirtualFree  = 99

	opProcessPerfCtr        = 32
	opProcessPerfCtrRundown = 33
	opProcessDefunct        = 39

	opCSwitch  = 36
	opSample   = 46
	opServices = 15

	// The stack itself, or keys to those of the kernel and of the program.
	opStackWalk      = 32
	opStackKeyKernel = 37
	opStackKeyUser   = 38

	opFileCreate       = 64
	opFileCleanup      = 65
	opFileClose        = 66
	opFileRead         = 67
	opFileWrite        = 68
	opFileDirEnum      = 72
	opFileFlush        = 73
	opFileOperationEnd = 76
	opFileDirNotify    = 77
	opFileDeletePath   = 79
	opFileSetLinkPath  = 81

	opImageUnload = 2
	opImageLoad   = 10
)

var (
	diskClass         = kernelClasses[0x01].guid
	pageFaultClass    = kernelClasses[0x02].guid
	fileClass         = kernelClasses[0x04].guid
	processClass      = kernelClasses[0x03].guid
	threadClass       = kernelClasses[threadGroup].guid
	tcpClass          = kernelClasses[0x06].guid
	udpClass          = kernelClasses[0x08].guid
	systemConfigClass = kernelClasses[0x0b].guid
	perfInfoClass     = kernelClasses[0x0f].guid
	imageClass        = kernelClasses[imageGroup].guid
	stackWalkClass    = kernelClasses[stackWalkGroup].guid
)

// A subject is the process and thread in the payload of an event.
type subject struct {
	process, thread int64
	// whole is set where it replaces the header's. Otherwise it serves only where the header
	// has none.
	whole bool
}

// nobody is the subject of an event whose payload names none.
var nobody = subject{process: -1, thread: -1}

// idAt returns the id at an offset of a payload, or -1.
func idAt(p []byte, at int) int64 {
	if at+4 > len(p) {
		return -1
	}
	return processOrThread(binary.LittleEndian.Uint32(p[at:]))
}

// processOrThread returns an id, of which all ones mean none.
func processOrThread(id uint32) int64 {
	if id == noID {
		return -1
	}
	return int64(id)
}

const noID = 0xffffffff

func processAt(p []byte, at int) subject { return subject{process: idAt(p, at), thread: -1} }

func threadAt(p []byte, at int) subject { return subject{process: -1, thread: idAt(p, at)} }

// subjectOf returns the subject in the payload of the classic event rec.
func subjectOf(rec *etw.Record) subject {
	p, ptr := rec.Payload, int(rec.PointerSize)
	switch rec.Provider {
	case processClass:
		return processSubject(rec, ptr)
	case threadClass:
		return threadSubject(rec)
	case imageClass:
		return imageSubject(rec, ptr)
	case diskClass:
		return diskSubject(rec, ptr)
	case pageFaultClass:
		return pageFaultSubject(rec, ptr)
	case fileClass:
		return fileSubject(rec, ptr)
	case tcpClass, udpClass:
		return processAt(p, 0)
	case systemConfigClass:
		if rec.Opcode == opServices && rec.Version >= 2 {
			return onThread(rec, processAt(p, 0))
		}
	case perfInfoClass:
		if rec.Opcode == opSample {
			return threadAt(p, ptr)
		}
	case stackWalkClass:
		if isStack(rec.Opcode) {
			return subject{process: idAt(p, 8), thread: idAt(p, 12)} // whose stack it is: that follows the time of its event
		}
	}
	return nobody
}

func processSubject(rec *etw.Record, ptr int) subject {
	switch rec.Opcode {
	case opStart, opStop, opDCStart, opDCStop, opProcessDefunct:
		if rec.Version == 0 {
			ptr = 0 // the id comes first
		}
		s := processAt(rec.Payload, ptr)
		s.whole = s.process >= 0
		return s
	case opProcessPerfCtr, opProcessPerfCtrRundown:
		return processAt(rec.Payload, 0)
	}
	return nobody
}

func threadSubject(rec *etw.Record) subject {
	p := rec.Payload
	switch rec.Opcode {
	case opStart, opDCStart, opDCStop:
		if len(p) >= 8 {
			return subject{idAt(p, 0), idAt(p, 4), true}
		}
	case opStop:
		return subject{process: idAt(p, 0), thread: idAt(p, 4)}
	case opCSwitch:
		return threadAt(p, 0) // the one that is switched to
	}
	return nobody
}

func imageSubject(rec *etw.Record, ptr int) subject {
	if rec.Version == 0 {
		return nobody
	}
	s := processAt(rec.Payload, 2*ptr)
	switch rec.Opcode {
	case opImageUnload, opDCStart, opDCStop:
		s.whole = s.process >= 0
		return s
	case opImageLoad:
		return s
	}
	return nobody
}

// diskSubject is known since version 3. The thread is that which asked for the
// operation, and stands last.
func diskSubject(rec *etw.Record, ptr int) subject {
	if rec.Version < 3 {
		return nobody
	}
	switch rec.Opcode {
	case opDiskRead, opDiskWrite:
		// After 16 bytes of numbers, an offset, two pointers and a time.
		return threadAt(rec.Payload, 0x20+2*ptr)
	case opDiskReadInit, opDiskWriteInit, opDiskFlushInit:
		return threadAt(rec.Payload, ptr) // after the request
	case opDiskFlush:
		return threadAt(rec.Payload, 0x10+ptr) // after two numbers, a time and the request
	}
	return nobody
}

// fileSubject is known since version 2, and of operations: the thread that asks for
// them stands behind the request, and since version 3 behind all pointers.
func fileSubject(rec *etw.Record, ptr int) subject {
	pointers := 1
	if rec.Version >= 3 {
		switch rec.Opcode {
		case opFileCreate:
			pointers = 2
		case opFileCleanup, opFileClose, opFileRead, opFileWrite, opFileDirEnum, opFileFlush, opFileDirNotify:
			pointers = 3
		default:
			pointers = 4
		}
	}
	switch op := rec.Opcode; {
	case rec.Version < 2, op == opFileOperationEnd:
		return nobody
	case op == opFileRead, op == opFileWrite:
		return threadAt(rec.Payload, 8+pointers*ptr) // after the offset in the file
	case op >= opFileCreate && op <= opFileDirNotify, op >= opFileDeletePath && op <= opFileSetLinkPath && rec.Version >= 3:
		return threadAt(rec.Payload, pointers*ptr)
	}
	return nobody
}

func pageFaultSubject(rec *etw.Record, ptr int) subject {
	switch rec.Opcode {
	case opHardFault:
		return threadAt(rec.Payload, 0x10+2*ptr)
	case opVirtualAlloc, opVirtualFree:
		return onThread(rec, processAt(rec.Payload, 2*ptr))
	}
	return nobody
}

// isStack reports whether an event of stacks is that of a thread, or half of it.
// Others are the addresses that several share.
func isStack(op etw.Opcode) bool {
	return op == opStackWalk || op == opStackKeyKernel || op == opStackKeyUser
}

// onThread returns the process s, which its own thread has logged rec about.
func onThread(rec *etw.Record, s subject) subject {
	if s.process < 0 {
		return nobody
	}
	return subject{s.process, rec.ThreadID, true}
}

// apply sets the ids of rec from s.
func (s subject) apply(rec *etw.Record) {
	switch {
	case s.whole:
		rec.ProcessID, rec.ThreadID = s.process, s.thread
	case rec.ProcessID < 0 && rec.ThreadID < 0:
		rec.ProcessID, rec.ThreadID = s.process, s.thread
	}
}
