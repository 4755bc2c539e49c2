//go:build unix && !linux

package eventpipe

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// socketFolders returns where sockets may be: programs that an application group
// confines have them elsewhere.
func socketFolders() []string {
	list := []string{"/tmp"}
	if own := filepath.Clean(tempFolder(os.Getenv("TMPDIR"))); own != list[0] {
		list = append([]string{own}, list...)
	}
	return list
}

// findSocket returns the socket of a process.
func findSocket(pid int) (string, error) {
	if !exists(pid) {
		return "", errNoProcess
	}
	folders := socketFolders()
	for _, folder := range folders {
		list, _ := sockets(folder)
		if s, ok := newest(list, pid, ""); ok {
			return s.path, nil
		}
	}
	return "", errNoPort(folders...)
}

// exists reports whether there is a process; one of another user cannot be signalled.
func exists(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

// candidates lists the processes that have a socket.
func candidates(ctx context.Context) ([]candidate, error) {
	var found []candidate
	seen := make(map[int]bool)
	for _, folder := range socketFolders() {
		list, _ := sockets(folder)
		for _, s := range list {
			if seen[s.pid] || !exists(s.pid) {
				continue
			}
			seen[s.pid] = true
			s, _ = newest(list, s.pid, "")
			found = append(found, candidate{pid: s.pid, start: startTime(s.key), path: s.path})
		}
	}
	return found, ctx.Err()
}

// startTime reads a key, which is in seconds since 1970.
func startTime(key string) time.Time {
	seconds, err := strconv.ParseInt(key, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
