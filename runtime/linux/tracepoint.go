package linux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/etwgen/etwgen/internal/tracepoint"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
	"github.com/etwgen/etwgen/runtime/internal/universal"
)

// tracefs is where the kernel describes its events.
const tracefs = "/sys/kernel/tracing"

// tracepoints finds events of the kernel by their names, and returns them by their numbers.
func tracepoints(folder string, names []string) (map[uint16]*universal.Tracepoint, error) {
	if len(names) == 0 || runtime.GOOS != "linux" { // elsewhere nothing can be recorded
		return nil, nil
	}
	points := make(map[uint16]*universal.Tracepoint)
	for _, name := range names {
		group, event, ok := strings.Cut(name, ":")
		if !ok || group == "" || event == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("linux: tracepoint %q: want its group and name, such as sched:sched_wakeup or user_events:*", name)
		}
		paths, err := filepath.Glob(filepath.Join(folder, "events", group, event, "format"))
		if err == nil && len(paths) == 0 {
			err = missing(folder, group)
		}
		if err != nil {
			return nil, fmt.Errorf("linux: tracepoint %s: %w", name, err)
		}
		for _, path := range paths {
			if err := addTracepoint(points, path); err != nil {
				return nil, fmt.Errorf("linux: %s: %w", path, err)
			}
		}
	}
	return points, nil
}

// addTracepoint adds an event by the file that describes it, in the folder of the event, in
// that of its group.
func addTracepoint(points map[uint16]*universal.Tracepoint, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d, err := tracepoint.Parse(filepath.Base(filepath.Dir(filepath.Dir(path))), text)
	if err != nil {
		return err
	}
	points[d.ID] = universal.NewTracepoint(d)
	return nil
}

// missing says why there is no event of a name.
func missing(folder, group string) error {
	_, err := os.ReadDir(filepath.Join(folder, "events"))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("it takes root to see the events of the kernel: %w", err)
	case err != nil:
		return fmt.Errorf("nothing tells which events the kernel has (mount -t tracefs none %s): %w", tracefs, err)
	case group != "user_events":
		return errors.New("the kernel has no such event")
	}
	if _, err := os.Stat(filepath.Join(folder, "user_events_data")); err != nil {
		return fmt.Errorf("this kernel has no events of programs, which Linux has from 6.4 on if it is built with CONFIG_USER_EVENTS: %w", err)
	}
	return errors.New("no program has registered such an event yet")
}

// take takes a record of the kernel.
func (s *Session) take(r *perfevent.Record) {
	switch {
	case r.Kind != perfevent.Traced:
		s.translator.Take(r)
	case len(r.Raw) >= 2 && s.points[binary.LittleEndian.Uint16(r.Raw)] != nil:
		_ = s.translator.Traced(s.points[binary.LittleEndian.Uint16(r.Raw)], r, nil) // which counts it
	default:
		s.translator.Stats.Lost++
	}
}
