package perfdata

import (
	"errors"
	"fmt"
	"io"
)

// A perfMap is the perf-PID.map of a process.
type perfMap struct {
	pid  int32
	open func() (io.ReadCloser, error)
}

// WithMap names the code that a process compiled itself by its perf-PID.map, as recorders put it
// beside their perf.data. It is read once all else was, if the process is in the recording.
func WithMap(pid int32, open func() (io.ReadCloser, error)) Option {
	return func(r *Reader) { r.maps = append(r.maps, perfMap{pid, open}) }
}

// nameCompiled takes the maps of processes.
func (r *Reader) nameCompiled() {
	for _, m := range r.maps {
		if !r.translator.Has(m.pid) {
			continue
		}
		f, err := m.open()
		if err == nil {
			err = errors.Join(r.translator.NameCompiled(m.pid, f), f.Close())
		}
		if err != nil {
			r.damage(r.at, fmt.Sprintf("perf-%d.map", m.pid), err)
		}
	}
}
