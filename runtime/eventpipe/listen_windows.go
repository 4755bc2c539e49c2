package eventpipe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Calls of named pipes that package syscall lacks.
var (
	kernel32               = syscall.NewLazyDLL("kernel32.dll")
	createNamedPipe        = kernel32.NewProc("CreateNamedPipeW")
	connectNamedPipe       = kernel32.NewProc("ConnectNamedPipe")
	createEvent            = kernel32.NewProc("CreateEventW")
	setEvent               = kernel32.NewProc("SetEvent")
	getOverlappedResult    = kernel32.NewProc("GetOverlappedResult")
	waitForMultipleObjects = kernel32.NewProc("WaitForMultipleObjects")
)

const (
	errorPipeConnected     syscall.Errno = 535
	pipeAccessDuplex                     = 3
	fileFlagFirstInstance                = 0x00080000
	pipeRejectRemote                     = 8
	pipeUnlimitedInstances               = 255
	pipeBuffer                           = 16 << 10
)

// A pipeAcceptor makes an instance of a pipe after the other.
type pipeAcceptor struct {
	path   string
	name   *uint16
	next   syscall.Handle // the instance that waits for a client
	closed syscall.Handle // an event
	done   chan struct{}  // closed when accept will not be called again
}

func listen(path string) (acceptor, error) {
	path = pipePath(path)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	a := &pipeAcceptor{path: path, name: name, done: make(chan struct{})}
	if a.closed, err = newEvent(); err != nil {
		return nil, err
	}
	// The first instance fails if another program has a pipe of this name.
	if a.next, err = a.instance(fileFlagFirstInstance); err != nil {
		syscall.CloseHandle(a.closed)
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("another program listens at %s", path)
		}
		return nil, &fs.PathError{Op: "listen", Path: path, Err: err}
	}
	return a, nil
}

func newEvent() (syscall.Handle, error) {
	h, _, err := createEvent.Call(0, 1, 0, 0) // reset by hand, not set
	if h == 0 {
		return 0, err
	}
	return syscall.Handle(h), nil
}

// instance makes an instance of the pipe, with the rights that it has by default: for
// the user, administrators and the system.
func (a *pipeAcceptor) instance(flags uintptr) (syscall.Handle, error) {
	h, _, err := createNamedPipe.Call(uintptr(unsafe.Pointer(a.name)), pipeAccessDuplex|fileFlagOverlapped|flags,
		pipeRejectRemote, pipeUnlimitedInstances, pipeBuffer, pipeBuffer, 0, 0)
	if syscall.Handle(h) == syscall.InvalidHandle {
		return 0, err
	}
	return syscall.Handle(h), nil
}

func (a *pipeAcceptor) accept() (conn, error) {
	if err := a.await(a.next); err != nil {
		close(a.done)
		return nil, err
	}
	c := pipe{os.NewFile(uintptr(a.next), a.path)}
	next, err := a.instance(0)
	if err != nil {
		c.Close()
		a.next = syscall.InvalidHandle
		close(a.done)
		return nil, err
	}
	a.next = next
	return c, nil
}

// await waits until a client has connected to an instance, or a is closed.
func (a *pipeAcceptor) await(h syscall.Handle) error {
	connected, err := newEvent()
	if err != nil {
		return err
	}
	defer syscall.CloseHandle(connected)
	overlapped := &syscall.Overlapped{HEvent: connected}
	ok, _, err := connectNamedPipe.Call(uintptr(h), uintptr(unsafe.Pointer(overlapped)))
	switch {
	case ok != 0, errors.Is(err, errorPipeConnected):
		return nil
	case !errors.Is(err, syscall.ERROR_IO_PENDING):
		return err
	}
	events := [2]syscall.Handle{a.closed, connected}
	signalled, _, err := waitForMultipleObjects.Call(2, uintptr(unsafe.Pointer(&events)), 0, syscall.INFINITE)
	if signalled == 0 {
		syscall.CancelIoEx(h, overlapped)
		err = ErrClosed
	}
	var n uint32 // the overlapped structure is in use until this returns
	ok, _, result := getOverlappedResult.Call(uintptr(h), uintptr(unsafe.Pointer(overlapped)), uintptr(unsafe.Pointer(&n)), 1)
	switch {
	case signalled == 0:
		return err
	case ok == 0:
		return result
	}
	return nil
}

// Close ends accept.
func (a *pipeAcceptor) Close() error {
	setEvent.Call(uintptr(a.closed))
	<-a.done
	syscall.CloseHandle(a.closed)
	if a.next != syscall.InvalidHandle {
		syscall.CloseHandle(a.next)
	}
	return nil
}

var ports atomic.Int64

// newPort returns a path at which a port can be made.
func newPort() (path string, done func(), err error) {
	return fmt.Sprintf(`%setw-%d-%d`, pipeFolder, os.Getpid(), ports.Add(1)), func() {}, nil
}
