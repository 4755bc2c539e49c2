package eventpipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Constants that package syscall lacks.
const (
	errorPipeBusy         syscall.Errno = 231
	errorNoData           syscall.Errno = 232 // the pipe is being closed
	errorPipeNotConnected syscall.Errno = 233
	securityQoSPresent                  = 0x00100000
	securityIdentify                    = 0x00010000 // the server may see who we are, not act as us
	fileFlagOverlapped                  = 0x40000000
)

// pipeRetry is how long to wait for an instance of a pipe that is busy.
const pipeRetry = 10 * time.Millisecond

// connect opens the pipe at path. The file has deadlines, since it is overlapped.
func connect(ctx context.Context, path string) (conn, error) {
	path = pipePath(path)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	for {
		h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_EXISTING,
			fileFlagOverlapped|securityQoSPresent|securityIdentify, 0)
		switch {
		case err == nil:
			return pipe{os.NewFile(uintptr(h), path)}, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: there is no %s", ErrNotFound, path)
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("%s belongs to another user; run as that user, or as administrator: %w", path, fs.ErrPermission)
		case !errors.Is(err, errorPipeBusy):
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pipeRetry):
		}
	}
}

// A pipe is a file whose end Windows reports in two ways.
type pipe struct{ *os.File }

func (p pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if errors.Is(err, errorPipeNotConnected) {
		err = io.EOF
	}
	return n, err
}

// isBroken reports an error that means that the other side is gone.
func isBroken(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errorNoData) || errors.Is(err, errorPipeNotConnected) || errors.Is(err, io.ErrClosedPipe)
}
