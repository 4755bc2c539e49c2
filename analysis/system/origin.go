package system

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An origin is where a file of a trace says that it comes from.
type origin struct {
	file     string
	computer string
	booted   etw.FileTime
}

// bootSlack is how far apart times of the same boot may be: clocks are put right.
const bootSlack = time.Hour

// String returns what tells origins apart.
func (o *origin) String() string {
	s := cmp.Or(o.computer, "a machine without a name")
	if o.booted > 0 {
		s += " booted on " + o.booted.Time().Format(time.DateTime)
	}
	return s
}

// differs reports whether two files are of different machines, or of times between
// which one was started again: ids and addresses mean different things in them.
func (o *origin) differs(other *origin) bool {
	if o.computer != "" && other.computer != "" && o.computer != other.computer {
		return true
	}
	return o.booted > 0 && other.booted > 0 && o.booted.Time().Sub(other.booted.Time()).Abs() > bootSlack
}

// watchOrigins takes what files tell of where they come from.
func (m *Machine) watchOrigins(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyEventTraceHeader) error {
		m.originOf(r).booted = e.BootTime
		m.bound(r.Clock, e.EndTime)
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnySystemConfigCPU) error {
		m.originOf(r).computer = fixed(e.ComputerName)
		return nil
	})
}

func (m *Machine) originOf(r *etw.Record) *origin {
	i := slices.IndexFunc(m.origins, func(o origin) bool { return o.file == r.File })
	if i < 0 {
		i = len(m.origins)
		m.origins = append(m.origins, origin{file: r.File})
	}
	return &m.origins[i]
}

// Origins says, a sentence each, which files are not of the machine and the boot that
// the first is of. What is put together from such files is wrong: numbers of processes
// and addresses mean different things in them.
func (m *Machine) Origins() []string {
	var list []string
	for i := range m.origins {
		if first, o := &m.origins[0], &m.origins[i]; o.differs(first) {
			list = append(list, fmt.Sprintf("%s is of %v and %s of %v", first.file, first, o.file, o))
		}
	}
	return list
}
