package eventpipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A proc is the system's facts about a process.
type proc struct {
	pid     int
	inner   int      // its pid in its own namespace
	key     string   // when it started, in ticks since the machine did
	users   []string // whose rights it has, real, effective, saved and of files, by number
	folders []string
}

// procPath returns a file of the system about a process.
func procPath(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// readProc reads the facts that find the socket of a process.
func readProc(pid int) (proc, error) {
	p := proc{pid: pid, inner: pid}
	stat, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			err = errNoProcess
		}
		return p, err
	}
	// The name of the program, in parentheses, may have any character.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" {
		return p, errNoProcess
	}
	p.key = fields[start]
	status, _ := os.ReadFile(procPath(pid, "status"))
	namespaced := false
	for line := range strings.Lines(string(status)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			all := strings.Fields(numbers)
			if inner, err := strconv.Atoi(all[max(len(all), 1)-1]); len(all) > 0 && err == nil {
				p.inner, namespaced = inner, len(all) > 1
			}
		}
		if users, ok := strings.CutPrefix(line, "Uid:"); ok {
			p.users = strings.Fields(users)
		}
	}
	p.folders = folders(pid, namespaced || elsewhere(pid))
	return p, nil
}

// elsewhere reports whether a process sees other files than we do.
func elsewhere(pid int) bool {
	theirs, err := os.Readlink(procPath(pid, "ns/mnt"))
	ours, err2 := os.Readlink("/proc/self/ns/mnt")
	return err == nil && err2 == nil && theirs != ours
}

// folders returns where the socket of a process may be. Its environment, which says
// so, can be read only by its user.
func folders(pid int, elsewhere bool) []string {
	list := []string{"/tmp"}
	environ, err := os.ReadFile(procPath(pid, "environ"))
	if err != nil {
		if own := filepath.Clean(tempFolder(os.Getenv("TMPDIR"))); own != list[0] {
			list = append(list, own)
		}
	}
	for _, variable := range strings.Split(string(environ), "\x00") {
		if value, ok := strings.CutPrefix(variable, "TMPDIR="); ok {
			list[0] = tempFolder(value)
			break // the first one counts
		}
	}
	if elsewhere {
		for i := range list {
			list[i] = filepath.Join(procPath(pid, "root"), list[i])
		}
	}
	return list
}

// findSocket returns the socket of a process.
func findSocket(pid int) (string, error) {
	p, err := readProc(pid)
	if err != nil {
		return "", err
	}
	return p.find(sockets)
}

// find returns the socket of the process. One that another process with the same pid
// left behind has another key.
func (p *proc) find(list func(folder string) ([]socket, error)) (string, error) {
	var denied error
	for _, folder := range p.folders {
		all, err := list(folder)
		if errors.Is(err, fs.ErrPermission) {
			denied = fmt.Errorf("%s cannot be read; run as the user of the process, or as root: %w", folder, fs.ErrPermission)
		}
		if s, ok := newest(all, p.inner, p.key); ok {
			if denied = p.checkOwner(s.path); denied == nil {
				return s.path, nil
			}
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", errNoPort(p.folders...)
}

// checkOwner says of a socket with the name of the process's own that it is of a user whose
// rights the process does not have: everybody can make one in /tmp. Those of root are good: a
// process may have given up its rights since.
func (p *proc) checkOwner(path string) error {
	var info syscall.Stat_t
	if syscall.Stat(path, &info) != nil || info.Uid == 0 || slices.Contains(p.users, strconv.Itoa(int(info.Uid))) {
		return nil // or who connects says why it cannot be
	}
	return fmt.Errorf("%s is a socket of user %d, and not of process %d, which is of user %s: it is not used: %w", path, info.Uid, p.pid, strings.Join(p.users[:min(1, len(p.users))], ""), fs.ErrPermission)
}

// candidates lists the processes that have a socket, or a runtime without one.
func candidates(ctx context.Context) ([]candidate, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	boot := bootTime()
	type listing struct {
		list []socket
		err  error
	}
	known := make(map[string]listing)
	list := func(folder string) ([]socket, error) {
		l, ok := known[folder]
		if !ok {
			l.list, l.err = sockets(folder)
			known[folder] = l
		}
		return l.list, l.err
	}
	var found []candidate
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		command := commandLine(pid)
		p, err := readProc(pid)
		if err != nil || command == "" { // it is gone, or a thread of the kernel
			continue
		}
		c := candidate{pid: pid, start: startTime(boot, p.key), command: command}
		if c.path, c.err = p.find(list); c.err != nil && !hasRuntime(pid) {
			continue
		}
		found = append(found, c)
	}
	return found, nil
}

// commandLine returns the arguments of a process, separated by spaces.
func commandLine(pid int) string {
	data, _ := os.ReadFile(procPath(pid, "cmdline"))
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}

// hasRuntime reports whether a process has a .NET runtime in its memory: the library,
// or the memory for compiled code of a program that has the runtime built in.
func hasRuntime(pid int) bool {
	maps, _ := os.ReadFile(procPath(pid, "maps"))
	return bytes.Contains(maps, []byte("/libcoreclr.so")) || bytes.Contains(maps, []byte("/memfd:doublemapper"))
}

// bootTime returns when the machine started, in seconds since 1970.
func bootTime() int64 {
	stat, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(stat)) {
		if seconds, ok := strings.CutPrefix(line, "btime "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(seconds), 10, 64)
			return n
		}
	}
	return 0
}

// ticksPerSecond is the unit of Linux towards programs, on all machines that .NET runs on.
const ticksPerSecond = 100

func startTime(boot int64, key string) time.Time {
	ticks, err := strconv.ParseInt(key, 10, 64)
	if err != nil || boot == 0 {
		return time.Time{}
	}
	return time.Unix(boot+ticks/ticksPerSecond, ticks%ticksPerSecond*int64(time.Second/ticksPerSecond))
}
