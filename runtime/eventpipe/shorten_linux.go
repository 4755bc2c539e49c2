package eventpipe

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// maxSocketPath is how long the path of a socket may be, with its NUL.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path)

// shorten returns an address for a socket whose path is too long, as that of one in a
// container can be: by the open folder. done gives it up.
func shorten(path string) (address string, done func(), err error) {
	if len(path) < maxSocketPath {
		return path, func() {}, nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(path)), func() { folder.Close() }, nil
}
