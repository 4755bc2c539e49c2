//go:build unix

package eventpipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
)

// connect connects to the socket at path.
func connect(ctx context.Context, path string) (conn, error) {
	address, done, err := shorten(path)
	if err != nil {
		return nil, unreachable(path, err)
	}
	defer done()
	c, err := new(net.Dialer).DialContext(ctx, "unix", address)
	if err != nil {
		return nil, unreachable(path, err)
	}
	return c.(*net.UnixConn), nil
}

// unreachable explains an error in connecting.
func unreachable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no %s", ErrNotFound, path)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: nobody listens at %s, which a process that was killed left behind", ErrNotFound, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s belongs to another user; run as that user, or as root: %w", path, fs.ErrPermission)
	}
	return err
}

// isBroken reports an error that means that the other side is gone.
func isBroken(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe)
}
