package session

import (
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A system has the calls of Windows that the package makes. There is one with the real
// ones, and tests have another.
type system interface {
	startTrace(handle *uint64, name *uint16, p *properties) Code
	// controlTrace finds the session by handle, or by name if that is 0.
	controlTrace(handle uint64, name *uint16, p *properties, control uint32) Code
	enableTrace(handle uint64, provider *etw.GUID, control uint32, level etw.Level, any, all uint64, timeout uint32, p *enableParameters) Code
	// queryAllTraces sets *n to how many sessions there are.
	queryAllTraces(array []*properties, n *uint32) Code
	traceSet(handle uint64, class uint32, data unsafe.Pointer, size uintptr) Code

	// openEvents opens a session such that onEvent and onBufferRead are called, with the
	// context in l, and sets l.header.
	openEvents(l *logfile) (handle uint64, c Code)
	// hasBuffers reports whether there is openBuffers.
	hasBuffers() bool
	// openBuffers opens a session such that onBuffer is called with the context, and
	// sets h.
	openBuffers(name *uint16, context uintptr, h *logfileHeader) (handle uint64, c Code)
	// processTrace calls back, on the thread that it was called on, until the session
	// ends, or closeTrace is called.
	processTrace(handle uint64) Code
	closeTrace(handle uint64) Code

	// eventInformation fills info, of *size bytes, with the TRACE_EVENT_INFO of an event, and
	// sets *size to its size. If that is more, it is codeInsufficientBuffer.
	eventInformation(provider *etw.GUID, d *eventDescriptor, info *byte, size *uint32) Code

	// now returns the time, and where the performance counter stands.
	now() (utc etw.FileTime, counter int64)
	// enablePrivilege enables a privilege of the process, if it has it.
	enablePrivilege(name string)
	processRuns(pid int) bool
}

// Codes of controlTrace.
const (
	controlQuery  = 0
	controlStop   = 1
	controlUpdate = 2
	controlFlush  = 3
)

// Codes of enableTrace.
const (
	enableDisable      = 0
	enableEnable       = 1
	enableCaptureState = 2
)

// Classes of traceSet.
const (
	setStackTracing   = 3
	setEnableFlags    = 4
	setSampleInterval = 5
)
