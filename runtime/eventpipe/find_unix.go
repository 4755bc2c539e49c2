//go:build unix

package eventpipe

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A socket is a diagnostics socket as its name describes it.
type socket struct {
	path  string
	pid   int // in the namespace of the process
	key   string
	mtime time.Time
}

// sockets lists the sockets in a folder.
func sockets(folder string) ([]socket, error) {
	entries, err := os.ReadDir(folder)
	var list []socket
	for _, e := range entries {
		s, ok := parseSocket(e.Name())
		if !ok || e.Type()&fs.ModeSocket == 0 {
			continue
		}
		if info, err := e.Info(); err == nil {
			s.mtime = info.ModTime()
		}
		s.path = filepath.Join(folder, e.Name())
		list = append(list, s)
	}
	return list, err
}

// parseSocket reads a name: dotnet-diagnostic-PID-KEY-socket. That of a router, which
// stands in for a process on another device, has dsrouter- before the pid, and may have
// no key.
func parseSocket(name string) (socket, bool) {
	rest, router := strings.CutPrefix(name, routerPrefix)
	if !router {
		var ok bool
		if rest, ok = strings.CutPrefix(name, socketPrefix); !ok {
			return socket{}, false
		}
	}
	rest, suffixed := strings.CutSuffix(rest, socketSuffix)
	digits, key, keyed := strings.Cut(rest, "-")
	pid, err := strconv.Atoi(digits)
	if err != nil || pid <= 0 || !router && !(keyed && suffixed) {
		return socket{}, false
	}
	if router {
		key = "" // of the router, not of a process
	}
	return socket{pid: pid, key: key}, true
}

// newest returns the socket of a process that was made last.
func newest(list []socket, pid int, key string) (best socket, ok bool) {
	for _, s := range list {
		if s.pid != pid || key != "" && s.key != "" && s.key != key {
			continue
		}
		if !ok || s.mtime.After(best.mtime) {
			best, ok = s, true
		}
	}
	return best, ok
}

// tempFolder returns the folder of a variable TMPDIR.
func tempFolder(variable string) string {
	return cmp.Or(variable, "/tmp")
}

// errNoPort says why a process may have no socket.
func errNoPort(folders ...string) error {
	return fmt.Errorf("%w: it has no diagnostics socket in %s: it is no .NET process of version 3 or newer, it was started with "+
		"DOTNET_EnableDiagnostics=0 or DOTNET_EnableDiagnostics_IPC=0, its TMPDIR is another one, cannot be written or is too long, "+
		"or it is only now starting", ErrNotFound, strings.Join(folders, ", "))
}
