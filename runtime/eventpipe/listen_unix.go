//go:build unix

package eventpipe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// A unixAcceptor is a listening Unix socket.
type unixAcceptor struct{ *net.UnixListener }

func (a unixAcceptor) accept() (conn, error) {
	c, err := a.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// portName returns the runtimes' name of a socket.
func portName(path string) string { return path }

// listen makes the socket, for the user alone. One that is left over from a listener
// which was killed is removed, and nothing else is.
func listen(path string) (acceptor, error) {
	address := &net.UnixAddr{Name: path, Net: "unix"}
	l, err := net.ListenUnix("unix", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		c, dialErr := net.DialUnix("unix", nil, address)
		if dialErr == nil {
			c.Close()
			return nil, fmt.Errorf("another program listens at %s", path)
		}
		if !errors.Is(dialErr, syscall.ECONNREFUSED) {
			return nil, err
		}
		info, statErr := os.Lstat(path)
		if statErr != nil {
			return nil, statErr
		}
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is a file, not a socket: choose a path where nothing is", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = net.ListenUnix("unix", address)
	}
	switch {
	case errors.Is(err, syscall.EINVAL):
		return nil, fmt.Errorf("%s is too long for the path of a socket: %w", path, err)
	case err != nil:
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return unixAcceptor{l}, nil
}

// newPort returns a path at which a port can be made, and how to clean up behind it.
func newPort() (path string, done func(), err error) {
	folder := tempFolder(os.Getenv("TMPDIR"))
	const room = 40 // for our part of the path
	if len(folder)+room > len(syscall.RawSockaddrUnix{}.Path) {
		folder = "/tmp"
	}
	if folder, err = os.MkdirTemp(folder, "etw-"); err != nil {
		return "", nil, err
	}
	return folder + "/port", func() { os.RemoveAll(folder) }, nil
}
