package live

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// jitMapTime is how long runtimes of .NET may take to write what they compiled.
const jitMapTime = 30 * time.Second

// jitMaps are the files into which runtimes of .NET write what they compiled.
type jitMaps struct {
	Asked map[int]JitMap
}

// A JitMap is the file of a process.
type JitMap struct {
	Path   string
	socket string
	Theirs bool // it was there before, and so is not ours to end
}

func NewJITMaps() *jitMaps { return &jitMaps{Asked: make(map[int]JitMap)} }

// ask asks the runtimes of processes for their maps, once. A runtime that has none, or
// does not answer, is an error that hinders no other.
func (c *jitMaps) ask(ctx context.Context, wanted func(int) bool) error {
	list, err := eventpipe.Processes(ctx)
	errs := []error{err}
	for _, p := range list {
		if _, known := c.Asked[p.PID]; known || !wanted(p.PID) {
			continue
		}
		m := JitMap{Path: JitMapPath(p.Socket), socket: p.Socket}
		if p.Err != nil || m.Path == "" {
			continue // without a port, or another's
		}
		_, err := os.Lstat(m.Path)
		m.Theirs = err == nil
		if err := m.tell(ctx, func(client *eventpipe.Client) error { return client.EnablePerfMap(ctx, eventpipe.PerfMapFile) }); err != nil {
			if ctx.Err() == nil {
				errs = append(errs, fmt.Errorf("process %d does not say which methods it compiled (.NET 8 and later do): %w", p.PID, err))
				c.Asked[p.PID] = JitMap{}
			}
			continue
		}
		c.Asked[p.PID] = m
	}
	return errors.Join(errs...)
}

// tell gives a command to the runtime.
func (m *JitMap) tell(ctx context.Context, command func(*eventpipe.Client) error) error {
	client, err := eventpipe.DialSocket(ctx, m.socket)
	if err != nil {
		return err
	}
	return errors.Join(command(client), client.Close())
}

// JitMapPath returns the file of the runtime that listens at a socket: it is in the same
// folder, and has the number that the process has for itself, as the socket's name has.
func JitMapPath(socket string) string {
	parts := strings.Split(filepath.Base(socket), "-") // dotnet-diagnostic-PID-TIME-socket
	if len(parts) < 4 {
		return ""
	}
	if _, err := strconv.ParseUint(parts[2], 10, 32); err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(socket), "perf-"+parts[2]+".map")
}

// Read reads the maps, and removes those that were made for it.
func (c *jitMaps) Read(ctx context.Context, function func(pid int32, start, size uint64, name string)) error {
	var errs []error
	for _, pid := range slices.Sorted(maps.Keys(c.Asked)) {
		m := c.Asked[pid]
		if m.Path == "" {
			continue
		}
		if !m.Theirs {
			// It fails if the process has ended; its map is whole then.
			_ = m.tell(ctx, func(client *eventpipe.Client) error { return client.DisablePerfMap(ctx) })
		}
		info, err := os.Lstat(m.Path)
		if err != nil || !info.Mode().IsRegular() {
			errs = append(errs, fmt.Errorf("process %d: what it compiled has no names: %w", pid, cmp.Or(err, errors.New(m.Path+" is no regular file"))))
			continue
		}
		f, err := os.Open(m.Path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		err = ReadJITMap(f, func(start, size uint64, name string) { function(int32(pid), start, size, name) })
		errs = append(errs, err, f.Close())
		if !m.Theirs {
			errs = append(errs, os.Remove(m.Path))
		}
	}
	return errors.Join(errs...)
}

// ReadJITMap reads lines of start and size, in hexadecimal, and name. Others are left out.
func ReadJITMap(r io.Reader, function func(start, size uint64, name string)) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		from, rest, _ := strings.Cut(lines.Text(), " ")
		length, name, _ := strings.Cut(rest, " ")
		start, err := strconv.ParseUint(strings.TrimPrefix(from, "0x"), 16, 64)
		size, err2 := strconv.ParseUint(strings.TrimPrefix(length, "0x"), 16, 64)
		if err == nil && err2 == nil && name != "" {
			function(start, size, name)
		}
	}
	return lines.Err()
}

// A kernelFunction is one of the kernel's own list.
type kernelFunction struct {
	at   uint64
	name string
}

// NameKernel writes the names of those functions of the kernel that are in stacks, as the
// kernel lists them for who may see its addresses.
func (t *systemTrace) NameKernel(path string) error {
	if len(t.kernel) == 0 || len(t.processes) == 0 {
		return nil
	}
	pid := slices.Min(slices.Collect(maps.Keys(t.processes)))
	t.mappings++
	t.write(&universal.ProcessMapping{
		Id: t.mappings, StartAddress: kernelSpace, EndAddress: 1<<64 - 1, FileName: etw.ANSI("vmlinux"), HasSymbolMetadata: true, HasVersionMetadata: true,
	}, t.about(pid), 0, nil)
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("functions of the kernel have no names: %w", err)
	}
	defer f.Close()
	list, err := readKernel(f)
	if err != nil || len(list) == 0 {
		return cmp.Or(err, fmt.Errorf("functions of the kernel have no names: %s shows no addresses (/proc/sys/kernel/kptr_restrict)", path))
	}
	last := -1
	for _, at := range slices.Sorted(maps.Keys(t.kernel)) {
		i, found := slices.BinarySearchFunc(list, at, func(f kernelFunction, at uint64) int { return cmp.Compare(f.at, at) })
		if !found {
			i-- // the one that begins before
		}
		if i < 0 || i == last || i+1 >= len(list) {
			continue
		}
		last = i
		t.Function(pid, list[i].at, list[i+1].at-list[i].at, list[i].name)
	}
	return nil
}

// readKernel reads lines of address, type and name, and returns the functions by their
// addresses, each once.
func readKernel(r io.Reader) ([]kernelFunction, error) {
	var list []kernelFunction
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || !strings.Contains("tTwW", fields[1]) {
			continue
		}
		if at, err := strconv.ParseUint(fields[0], 16, 64); err == nil && at >= kernelSpace {
			list = append(list, kernelFunction{at, fields[2]})
		}
	}
	slices.SortStableFunc(list, func(a, b kernelFunction) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(list, func(a, b kernelFunction) bool { return a.at == b.at }), lines.Err()
}
