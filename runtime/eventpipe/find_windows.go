package eventpipe

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
)

const pipeFolder = `\\.\pipe\`

// pipePath returns the path of a pipe, of which only the name may be given.
func pipePath(path string) string {
	if strings.HasPrefix(path, `\\`) {
		return path
	}
	return pipeFolder + path
}

// portName returns the runtimes' name of a pipe: they put the folder before it themselves.
func portName(path string) string {
	if len(path) > len(pipeFolder) && strings.EqualFold(path[:len(pipeFolder)], pipeFolder) {
		return path[len(pipeFolder):]
	}
	return path
}

// findSocket returns the pipe of a process. That it exists, connecting shows.
func findSocket(pid int) (string, error) { return pipeFolder + socketPrefix + strconv.Itoa(pid), nil }

// candidates lists the processes that have a pipe.
func candidates(ctx context.Context) ([]candidate, error) {
	pattern, err := syscall.UTF16PtrFromString(pipeFolder + "*")
	if err != nil {
		return nil, err
	}
	var found syscall.Win32finddata
	h, err := syscall.FindFirstFile(pattern, &found)
	if err != nil {
		return nil, &fs.PathError{Op: "list", Path: pipeFolder, Err: err}
	}
	defer syscall.FindClose(h)
	var list []candidate
	for ; err == nil && ctx.Err() == nil; err = syscall.FindNextFile(h, &found) {
		name := syscall.UTF16ToString(found.FileName[:])
		digits, ok := strings.CutPrefix(name, socketPrefix)
		if pid, err := strconv.Atoi(digits); ok && err == nil {
			list = append(list, candidate{pid: pid, path: pipeFolder + name})
		}
	}
	return list, ctx.Err()
}
