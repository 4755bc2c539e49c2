package system

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/hear"
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

// String returns a text that tells origins apart.
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

// watchOrigins takes the events of files about their origin.
func (m *Machine) watchOrigins(mux *etw.Mux) {
	hear.On(mux, func(r *etw.Record, e *kernel.AnyEventTraceHeader) {
		m.originOf(r).booted = e.BootTime
		m.bound(r.Clock, e.EndTime)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnySystemConfigCPU) { m.named(r, fixed(e.ComputerName)) })
}

// named takes the name of the computer, of which a file has several if it was made of others.
func (m *Machine) named(r *etw.Record, computer string) {
	first := m.originOf(r)
	first.computer = cmp.Or(first.computer, computer)
	other := origin{file: r.File, computer: computer}
	if first.computer != computer && len(m.origins) < mostOrigins && !slices.Contains(m.origins, other) {
		m.origins = append(m.origins, other)
	}
}

// mostOrigins bounds the claims of a damaged trace.
const mostOrigins = 1000

func (m *Machine) originOf(r *etw.Record) *origin {
	i := slices.IndexFunc(m.origins, func(o origin) bool { return o.file == r.File })
	if i < 0 {
		i = len(m.origins)
		m.origins = append(m.origins, origin{file: r.File})
	}
	return &m.origins[i]
}

// Origins says, a sentence each, which files are not of the machine and the boot that the
// first is of. A trace merged from such files is wrong: numbers of processes and addresses
// mean different things in them.
func (m *Machine) Origins() []string {
	var list []string
	for i := range m.origins {
		if first, o := &m.origins[0], &m.origins[i]; o.differs(first) {
			other := o.file + " "
			if o.file == first.file {
				other = ""
			}
			list = append(list, fmt.Sprintf("%s is of %v and %sof %v", first.file, first, other, o))
		}
	}
	return list
}
