package perf

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Definitions of the kernel's headers, as far as it is of use here. The numbers of the
// system calls are those of package syscall.

// An attr is the settings of an event: perf_event_attr, up to the fields of Linux 4.8.
type attr struct {
	kind             uint32
	size             uint32
	config           uint64
	period           uint64
	sampleType       uint64
	readFormat       uint64
	bits             uint64
	wakeup           uint32
	breakpointKind   uint32
	config1, config2 uint64
	branches         uint64
	userRegisters    uint64
	userStack        uint32
	clock            int32
	registers        uint64
	auxWatermark     uint32
	maxStack         uint16
	_                uint16
}

const (
	kindSoftware    = 1
	kindTracepoint  = 2
	cpuClock        = 0
	contextSwitches = 3

	bitInherit       = 1 << 1
	bitExcludeIdle   = 1 << 7
	bitMmap          = 1 << 8
	bitComm          = 1 << 9
	bitTask          = 1 << 13
	bitWatermark     = 1 << 14
	bitSampleIDAll   = 1 << 18
	bitMmap2         = 1 << 23
	bitCommExec      = 1 << 24
	bitUseClock      = 1 << 25
	bitContextSwitch = 1 << 26
	bitBuildID       = 1 << 34 // from Linux 5.12 on

	flagCloseOnExec = 1 << 3
	clockMonotonic  = 1

	// Where in the first page of a ring the kernel and its reader say how far they are.
	ringHead = 1024
	ringTail = 1032

	pollIn  = 0x1
	pollErr = 0x8
	pollHup = 0x10
)

// A pollFile is a file to wait for.
type pollFile struct {
	file            int32
	events, revents int16
}

func openEvent(a *attr, tid, processor int) (file int, err error) {
	r, _, no := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(a)), uintptr(tid), uintptr(processor), ^uintptr(0), flagCloseOnExec, 0)
	if no != 0 {
		return -1, no
	}
	return int(r), nil
}

func ioctl(name string, file int, request, argument uintptr) error {
	if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, uintptr(file), request, argument); no != 0 {
		return os.NewSyscallError("ioctl "+name, no)
	}
	return nil
}

// eventID returns the number that the kernel has for an event.
func eventID(file int) (id uint64, err error) {
	if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, uintptr(file), ioctlRead|unsafe.Sizeof(uintptr(0))<<16|ioctlID, uintptr(unsafe.Pointer(&id))); no != 0 {
		return 0, os.NewSyscallError("ioctl PERF_EVENT_IOC_ID", no)
	}
	return id, nil
}

// The requests of events, without their directions.
const (
	ioctlDisable   = 0x2401
	ioctlSetOutput = 0x2405
	ioctlID        = 0x2407
)

// poll waits until one of some files is ready, at most for a time.
func poll(files []pollFile, most time.Duration) error {
	var first unsafe.Pointer
	if len(files) > 0 {
		first = unsafe.Pointer(&files[0])
	}
	limit := syscall.NsecToTimespec(most.Nanoseconds())
	_, _, no := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(first), uintptr(len(files)), uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if no != 0 && no != syscall.EINTR {
		return os.NewSyscallError("ppoll", no)
	}
	return nil
}

// Now returns the time that records have.
func Now() int64 {
	var t syscall.Timespec
	if _, _, no := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0); no != 0 {
		return 0
	}
	return t.Nano()
}
