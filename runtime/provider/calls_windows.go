package provider

import (
	"sync"
	"syscall"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// windows calls the functions of Windows.
var windows calls = dll{}

type dll struct{}

// providerDLL has the functions. Windows knows where it is, so that it cannot be mistaken
// for a file of the same name. The linker can set it to the path of another, for tests; a
// program cannot.
var providerDLL = "advapi32.dll"

var library = syscall.NewLazyDLL(providerDLL)

var (
	procEventRegister        = library.NewProc("EventRegister")
	procEventUnregister      = library.NewProc("EventUnregister")
	procEventSetInformation  = library.NewProc("EventSetInformation")
	procEventWriteTransfer   = library.NewProc("EventWriteTransfer")
	procRegisterTraceGuids   = library.NewProc("RegisterTraceGuidsW")
	procUnregisterTraceGuids = library.NewProc("UnregisterTraceGuids")
	procGetTraceLoggerHandle = library.NewProc("GetTraceLoggerHandle")
	procGetTraceEnableLevel  = library.NewProc("GetTraceEnableLevel")
	procGetTraceEnableFlags  = library.NewProc("GetTraceEnableFlags")
	procTraceEvent           = library.NewProc("TraceEvent")
	procEnumerateTraceGuids  = library.NewProc("EnumerateTraceGuidsEx")
)

// codeNotFound says that this Windows lacks a function.
const codeNotFound = uint32(syscall.ERROR_PROC_NOT_FOUND)

// invoke calls a function and returns its error code.
func invoke(p *syscall.LazyProc, args ...uintptr) uint32 {
	if p.Find() != nil {
		return codeNotFound
	}
	code, _, _ := syscall.SyscallN(p.Addr(), args...)
	return uint32(code)
}

// callbacks are made once, since Windows programs in Go have only 2000 for all time.
var callbacks = sync.OnceValues(func() (enable, request uintptr) {
	return syscall.NewCallback(onEnable), syscall.NewCallback(onRequest)
})

func (dll) eventRegister(guid *etw.GUID, id uintptr, handle *uint64) uint32 {
	enable, _ := callbacks()
	return invoke(procEventRegister, uintptr(unsafe.Pointer(guid)), enable, id, uintptr(unsafe.Pointer(handle)))
}

func (dll) eventUnregister(handle uint64) uint32 {
	a := split(handle)
	return invoke(procEventUnregister, a[:words]...)
}

func (dll) eventSetInformation(handle uint64, class uint32, data []byte) uint32 {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	a := split(handle)
	if words == 1 {
		return invoke(procEventSetInformation, a[0], uintptr(class), p, uintptr(len(data)))
	}
	return invoke(procEventSetInformation, a[0], a[1], uintptr(class), p, uintptr(len(data)))
}

func (dll) eventWriteTransfer(handle uint64, d *eventDescriptor, activity, related *etw.GUID, count uint32, data *dataDescriptor) uint32 {
	descriptor, parts := uintptr(unsafe.Pointer(d)), uintptr(unsafe.Pointer(data))
	ours, other := uintptr(unsafe.Pointer(activity)), uintptr(unsafe.Pointer(related))
	a := split(handle)
	if words == 1 {
		return invoke(procEventWriteTransfer, a[0], descriptor, ours, other, uintptr(count), parts)
	}
	return invoke(procEventWriteTransfer, a[0], a[1], descriptor, ours, other, uintptr(count), parts)
}

func (dll) registerTraceGuids(guid *etw.GUID, id uintptr, handle *uint64) uint32 {
	_, request := callbacks()
	return invoke(procRegisterTraceGuids, request, id, uintptr(unsafe.Pointer(guid)), 0, 0, 0, 0, uintptr(unsafe.Pointer(handle)))
}

func (dll) unregisterTraceGuids(handle uint64) uint32 {
	a := split(handle)
	return invoke(procUnregisterTraceGuids, a[:words]...)
}

func (dll) traceEvent(session uint64, header *traceHeader) uint32 {
	p := uintptr(unsafe.Pointer(header))
	a := split(session)
	if words == 1 {
		return invoke(procTraceEvent, a[0], p)
	}
	return invoke(procTraceEvent, a[0], a[1], p)
}

func (dll) enumerateTraceGuids(class uint32, in, out []byte) (n, code uint32) {
	code = invoke(procEnumerateTraceGuids, uintptr(class), uintptr(unsafe.Pointer(unsafe.SliceData(in))), uintptr(len(in)),
		uintptr(unsafe.Pointer(unsafe.SliceData(out))), uintptr(len(out)), uintptr(unsafe.Pointer(&n)))
	return n, code
}

func (dll) text(code uint32) string { return syscall.Errno(code).Error() }

// words is how many words of a call an argument of 64 bits takes.
const words = 8 / pointerSize

// split returns an argument of 64 bits as a call takes it.
func split(v uint64) [2]uintptr { return [2]uintptr{uintptr(v), uintptr(v >> 16 >> 16)} }

// join returns the result of a call that has 64 bits.
func join(low, high uintptr) uint64 {
	if words == 1 {
		return uint64(low)
	}
	return uint64(low) | uint64(high)<<32
}

// onRequest is the ControlCallback of a classic provider. The other functions read the
// buffer.
func onRequest(code, id uintptr, _, buffer uintptr) uintptr {
	const enableEvents, disableEvents = 4, 5
	switch code {
	case enableEvents:
		low, high, _ := syscall.SyscallN(procGetTraceLoggerHandle.Addr(), buffer)
		session := join(low, high)
		if session == 0 || session == 1<<64-1 {
			return codeInvalidHandle
		}
		a := split(session)
		level := invoke(procGetTraceEnableLevel, a[:words]...)
		flags := invoke(procGetTraceEnableFlags, a[:words]...)
		requestCallback(id, session, uint8(level), flags)
	case disableEvents:
		requestCallback(id, 0, 0, 0)
	default:
		return codeInvalidParameter
	}
	return 0
}
