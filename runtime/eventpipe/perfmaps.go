package eventpipe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/perfmap"
)

// PerfMaps are files into which runtimes of .NET write which code they compiled, and where:
// names for the call stacks of recorders that know nothing of .NET, such as that of
// runtime/linux. The zero PerfMaps has asked none.
type PerfMaps struct {
	asked map[int]perfMap
}

// A perfMap is the file of a process.
type perfMap struct {
	path   string
	socket string
	theirs bool // it was there before, and so is not ours to end
}

// in returns the map where it is: in one of the folders in which it may be. One that nobody has
// is in the first.
func (m perfMap) in(folders []string) perfMap {
	if m.path == "" {
		return m
	}
	name := filepath.Base(m.path)
	for _, folder := range folders {
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && info.Mode().IsRegular() {
			m.path = filepath.Join(folder, name)
			return m
		}
	}
	m.path = filepath.Join(folders[0], name)
	return m
}

// perfMapFolders returns where a runtime puts its map: in /tmp, as the process sees it, whatever
// folder its socket is in.
func perfMapFolders(p *Process) []string {
	return []string{filepath.Dir(p.Socket), filepath.Join("/proc", strconv.Itoa(p.PID), "root", "tmp")}
}

// Ask asks the runtimes of those processes which are wanted for their maps, each once. A
// runtime that has none, or does not answer, is an error that hinders no other.
func (c *PerfMaps) Ask(ctx context.Context, wanted func(pid int) bool) error {
	if c.asked == nil {
		c.asked = make(map[int]perfMap)
	}
	list, err := Processes(ctx)
	errs := []error{err}
	for _, p := range list {
		if _, known := c.asked[p.PID]; known || !wanted(p.PID) {
			continue
		}
		m := perfMap{path: perfMapPath(p.Socket), socket: p.Socket}
		if p.Err != nil || m.path == "" {
			continue // without a port, or another's
		}
		m = m.in(perfMapFolders(&p))
		info, err := os.Lstat(m.path)
		m.theirs = err == nil && !info.ModTime().Before(p.Start) // else an earlier process of this number left it
		if err = m.tell(ctx, func(client *Client) error { return client.EnablePerfMap(ctx, PerfMapFile) }); err != nil {
			if ctx.Err() == nil {
				c.asked[p.PID], err = m.refused(p.PID, err)
				errs = append(errs, err)
			}
			continue
		}
		c.asked[p.PID] = m.in(perfMapFolders(&p))
	}
	return errors.Join(errs...)
}

// refused returns the map of a runtime that makes none when it is asked: older ones make one if their
// environment says so.
func (m perfMap) refused(pid int, err error) (perfMap, error) {
	if m.theirs {
		return m, nil
	}
	return perfMap{}, fmt.Errorf("process %d does not say which methods it compiled (.NET 8 and later do, and earlier ones that start with COMPlus_PerfMapEnabled=1): %w", pid, err)
}

// tell gives a command to the runtime.
func (m *perfMap) tell(ctx context.Context, command func(*Client) error) error {
	client, err := DialSocket(ctx, m.socket)
	if err != nil {
		return err
	}
	return errors.Join(command(client), client.Close())
}

// perfMapPath returns the file of the runtime that listens at a socket: it is in the same
// folder, and has the number that the process has for itself, as the socket's name has.
func perfMapPath(socket string) string {
	parts := strings.Split(filepath.Base(socket), "-") // dotnet-diagnostic-PID-TIME-socket
	if len(parts) < 4 {
		return ""
	}
	if _, err := strconv.ParseUint(parts[2], 10, 32); err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(socket), "perf-"+parts[2]+".map")
}

// Read reads the maps of the runtimes that were asked, and removes those that were made for
// it. Function gets each piece of code: where it is in its process, and its name.
func (c *PerfMaps) Read(ctx context.Context, function func(pid int, start, size uint64, name string)) error {
	var errs []error
	for _, pid := range slices.Sorted(maps.Keys(c.asked)) {
		if m := c.asked[pid]; m.path != "" {
			errs = append(errs, m.read(ctx, pid, func(start, size uint64, name string) { function(pid, start, size, name) }))
		}
	}
	return errors.Join(errs...)
}

// read reads the map of a process.
func (m *perfMap) read(ctx context.Context, pid int, function func(start, size uint64, name string)) error {
	if !m.theirs {
		// It fails if the process has ended; its map is whole then.
		_ = m.tell(ctx, func(client *Client) error { return client.DisablePerfMap(ctx) })
	}
	info, err := os.Lstat(m.path)
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("process %d: what it compiled has no names: %w", pid, cmp.Or(err, errors.New(m.path+" is no regular file")))
	}
	f, err := os.Open(m.path)
	if err != nil {
		return err
	}
	err = errors.Join(perfmap.Read(f, function), f.Close())
	if !m.theirs {
		err = errors.Join(err, os.Remove(m.path))
	}
	return err
}
