package session

import (
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// All calls of Windows that the package makes are in this file.

// controlDLL has the functions of sessions. The linker can set it to the path of
// another, for tests; a program cannot.
var controlDLL = "sechost.dll"

// replaced is the tests' stand-in for Windows.
var replaced system

// current returns the calls of the system.
func current() (system, error) {
	if replaced != nil {
		return replaced, nil
	}
	w := theWindows()
	if err := w.startTraceW.Find(); err != nil {
		return nil, &Error{Op: "find", Code: codeProcNotFound, Advice: err.Error()}
	}
	return w, nil
}

var theWindows = sync.OnceValue(func() *windows {
	if !strings.Contains(controlDLL, `\`) {
		controlDLL = systemFolder() + `\` + controlDLL
	}
	dll := syscall.NewLazyDLL(controlDLL)
	kernel := syscall.NewLazyDLL(systemFolder() + `\kernel32.dll`)
	advapi := syscall.NewLazyDLL(systemFolder() + `\advapi32.dll`)
	return &windows{
		startTraceW:      dll.NewProc("StartTraceW"),
		controlTraceW:    dll.NewProc("ControlTraceW"),
		enableTraceEx2:   dll.NewProc("EnableTraceEx2"),
		queryAllTracesW:  dll.NewProc("QueryAllTracesW"),
		traceSet_:        dll.NewProc("TraceSetInformation"),
		openTraceW:       dll.NewProc("OpenTraceW"),
		openRealTime:     dll.NewProc("OpenTraceFromRealTimeLogger"),
		processTrace_:    dll.NewProc("ProcessTrace"),
		closeTrace_:      dll.NewProc("CloseTrace"),
		queryCounter:     kernel.NewProc("QueryPerformanceCounter"),
		systemTime:       kernel.NewProc("GetSystemTimePreciseAsFileTime"),
		lookupPrivilege:  advapi.NewProc("LookupPrivilegeValueW"),
		adjustPrivileges: advapi.NewProc("AdjustTokenPrivileges"),
		manifestInfo:     syscall.NewLazyDLL(systemFolder() + `\tdh.dll`).NewProc("TdhGetManifestEventInformation"),
		onEvent:          syscall.NewCallback(onEvent),
		onBufferRead:     syscall.NewCallback(onBufferRead),
		onBuffer:         syscall.NewCallback(onBuffer),
	}
})

// systemFolder returns the folder of the system's libraries, so that no other is taken.
func systemFolder() string {
	path := make([]uint16, syscall.MAX_PATH)
	proc := syscall.NewLazyDLL("kernel32.dll").NewProc("GetSystemDirectoryW") // which Windows knows itself
	n, _, _ := proc.Call(uintptr(unsafe.Pointer(&path[0])), uintptr(len(path)))
	return syscall.UTF16ToString(path[:min(int(n), len(path))])
}

// windows are the real calls.
type windows struct {
	startTraceW, controlTraceW, enableTraceEx2, queryAllTracesW, traceSet_ *syscall.LazyProc
	openTraceW, openRealTime, processTrace_, closeTrace_                   *syscall.LazyProc
	queryCounter, systemTime                                               *syscall.LazyProc
	lookupPrivilege, adjustPrivileges, manifestInfo                        *syscall.LazyProc

	onEvent, onBufferRead, onBuffer uintptr
}

// call calls a function. The targets of arguments stay where they are meanwhile, which takes
// that each is made a number in the call itself. A number of 64 bits is one argument where
// words have as many, and otherwise two.
//
//go:uintptrescapes
func call(p *syscall.LazyProc, a ...uintptr) Code {
	if p.Find() != nil {
		return codeProcNotFound
	}
	r, _, _ := syscall.SyscallN(p.Addr(), a...)
	return Code(r)
}

// high returns the second argument of a number of 64 bits.
func high(v uint64) uintptr { return uintptr(v >> 32) }

func (w *windows) startTrace(handle *uint64, name *uint16, p *properties) Code {
	return call(w.startTraceW, uintptr(unsafe.Pointer(handle)), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(p)))
}

func (w *windows) controlTrace(handle uint64, name *uint16, p *properties, control uint32) Code {
	if word == 4 {
		return call(w.controlTraceW, uintptr(handle), high(handle),
			uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(p)), uintptr(control))
	}
	return call(w.controlTraceW, uintptr(handle),
		uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(p)), uintptr(control))
}

func (w *windows) enableTrace(handle uint64, provider *etw.GUID, control uint32, level etw.Level, any, all uint64, timeout uint32, p *enableParameters) Code {
	if word == 4 {
		return call(w.enableTraceEx2, uintptr(handle), high(handle), uintptr(unsafe.Pointer(provider)), uintptr(control), uintptr(level),
			uintptr(any), high(any), uintptr(all), high(all), uintptr(timeout), uintptr(unsafe.Pointer(p)))
	}
	return call(w.enableTraceEx2, uintptr(handle), uintptr(unsafe.Pointer(provider)), uintptr(control), uintptr(level),
		uintptr(any), uintptr(all), uintptr(timeout), uintptr(unsafe.Pointer(p)))
}

func (w *windows) queryAllTraces(array []*properties, n *uint32) Code {
	return call(w.queryAllTracesW, uintptr(unsafe.Pointer(&array[0])), uintptr(len(array)), uintptr(unsafe.Pointer(n)))
}

func (w *windows) traceSet(handle uint64, class uint32, data unsafe.Pointer, size uintptr) Code {
	if word == 4 {
		return call(w.traceSet_, uintptr(handle), high(handle), uintptr(class), uintptr(data), size)
	}
	return call(w.traceSet_, uintptr(handle), uintptr(class), uintptr(data), size)
}

func (w *windows) openEvents(l *logfile) (handle uint64, c Code) {
	if w.openTraceW.Find() != nil {
		return 0, codeProcNotFound
	}
	l.eventCallback, l.bufferCallback = w.onEvent, w.onBufferRead
	return opened(syscall.SyscallN(w.openTraceW.Addr(), uintptr(unsafe.Pointer(l))))
}

func (w *windows) hasBuffers() bool { return w.openRealTime.Find() == nil }

func (w *windows) openBuffers(name *uint16, context uintptr, h *logfileHeader) (handle uint64, c Code) {
	o := &openOptions{modes: processRealTime | processRawTimestamp, bufferCallback: w.onBuffer, bufferContext: context}
	return opened(syscall.SyscallN(w.openRealTime.Addr(),
		uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(o)), uintptr(unsafe.Pointer(h))))
}

// opened returns the result of opening a session: all ones are no handle, of which some
// systems with words of 32 bits return the lower half.
func opened(low, high uintptr, err syscall.Errno) (handle uint64, c Code) {
	handle = uint64(low)
	if word == 4 {
		handle |= uint64(high) << 32
	}
	if handle != ^uint64(0) && (word == 8 || handle != 1<<32-1) {
		return handle, codeSuccess
	}
	if err == 0 {
		return 0, codeInvalidParameter
	}
	return 0, Code(err)
}

func (w *windows) processTrace(handle uint64) Code {
	h := &handle
	return call(w.processTrace_, uintptr(unsafe.Pointer(h)), 1, 0, 0)
}

func (w *windows) closeTrace(handle uint64) Code {
	if word == 4 {
		return call(w.closeTrace_, uintptr(handle), high(handle))
	}
	return call(w.closeTrace_, uintptr(handle))
}

func (w *windows) eventInformation(provider *etw.GUID, d *eventDescriptor, info *byte, size *uint32) Code {
	return call(w.manifestInfo, uintptr(unsafe.Pointer(provider)), uintptr(unsafe.Pointer(d)), uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(size)))
}

func (w *windows) now() (utc etw.FileTime, counter int64) {
	t, n := new(syscall.Filetime), new(int64)
	call(w.systemTime, uintptr(unsafe.Pointer(t)))
	call(w.queryCounter, uintptr(unsafe.Pointer(n)))
	return etw.FileTime(int64(t.HighDateTime)<<32 | int64(t.LowDateTime)), *n
}

// tokenPrivileges is TOKEN_PRIVILEGES with one of them.
type tokenPrivileges struct {
	count      uint32
	luid       [2]uint32
	attributes uint32
}

func (w *windows) enablePrivilege(name string) {
	const privilegeEnabled, adjust = 2, 0x20
	process, _ := syscall.GetCurrentProcess()
	var token syscall.Token
	if syscall.OpenProcessToken(process, adjust|syscall.TOKEN_QUERY, &token) != nil {
		return
	}
	defer token.Close()
	p := &tokenPrivileges{count: 1, attributes: privilegeEnabled}
	if found, _, _ := w.lookupPrivilege.Call(0, uintptr(unsafe.Pointer(utf16Of(name))), uintptr(unsafe.Pointer(&p.luid))); found != 0 {
		w.adjustPrivileges.Call(uintptr(token), 0, uintptr(unsafe.Pointer(p)), 0, 0, 0)
	}
}

func (w *windows) processRuns(pid int) bool {
	const queryLimited, stillActive = 0x1000, 259
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return err != syscall.Errno(codeInvalidParameter) // what cannot be asked may run
	}
	defer syscall.CloseHandle(h)
	var code uint32
	return syscall.GetExitCodeProcess(h, &code) != nil || code == stillActive
}
