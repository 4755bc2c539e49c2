package figures

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/system"
)

// A Machine is the answers about the machine of a recording.
type Machine struct {
	System  *system.Result // of a [system.Usage]
	Files   *system.FilesResult
	Faults  *system.FaultsResult
	Network *system.NetworkResult
	// Asked reports whether a process counts; nil stands for all of them. Of a part nothing
	// is told that is of all, such as the time in which disks were busy.
	Asked func(pid int64, name string) bool
}

// Figures returns the figures of the machine: of processors, disks, files, hard faults and the
// network, of all processes and of those of a name. An area of which the recording has no events
// has none.
func (m *Machine) Figures() []compare.Figure {
	s := sums{of: m.Asked, all: make(map[string]*amount), parts: make(map[string]map[string]*amount)}
	s.processors(m.System)
	s.disks(m.Files, m.Asked == nil)
	s.files(m.Files)
	s.faults(m.Faults)
	s.network(m.Network)
	var l list
	for i := range kinds {
		metric := kinds[i].Metric
		if x := s.all[metric]; x != nil {
			l.total(metric, "", x.v, x.n)
		}
		for _, name := range slices.Sorted(maps.Keys(s.parts[metric])) {
			l.total(metric, name, s.parts[metric][name].v, s.parts[metric][name].n)
		}
	}
	return l.figures
}

// Sums are amounts by figure, and of those by process by its name, too.
type sums struct {
	of      func(pid int64, name string) bool
	all     map[string]*amount
	parts   map[string]map[string]*amount
	process string // whose the next ones are
}

// An amount is the sum of n values.
type amount struct {
	v float64
	n int
}

// recorded has the figures of an area be 0 at least.
func (s *sums) recorded(area string) {
	for i := range kinds {
		if k := &kinds[i]; k.Area == area && !strings.HasSuffix(k.Metric, ".*") {
			s.all[k.Metric] = new(amount)
		}
	}
}

// is makes a process the one whose amounts are added next, if it counts.
func (s *sums) is(pid system.ID, name string) bool {
	s.process = cmp.Or(name, "(unknown)")
	return s.of == nil || s.of(int64(pid), name)
}

// add adds the sum of n values to a figure.
func (s *sums) add(metric string, v float64, n uint64) {
	s.all[metric].add(v, n)
	k := find(metric + ".*")
	if k == nil {
		return
	}
	if s.parts[k.Metric] == nil {
		s.parts[k.Metric] = make(map[string]*amount)
	}
	x := s.parts[k.Metric][s.process]
	if x == nil {
		x = new(amount)
		s.parts[k.Metric][s.process] = x
	}
	x.add(v, n)
}

func (a *amount) add(v float64, n uint64) {
	a.v += v
	a.n += int(n)
}

// processors adds the time on processors, that of the idle process excepted.
func (s *sums) processors(r *system.Result) {
	idle := func(pid system.ID, name string) bool { return pid == 0 && name != system.OutsideName }
	if each, ok := r.SampleMS.Get(); ok {
		s.recorded(samplesArea)
		for i := range r.Processes {
			if p := &r.Processes[i]; !idle(system.ID(p.PID), p.Name) && s.is(system.ID(p.PID), p.Name) {
				ms := p.SampledMS.Or(0)
				s.add("processors.sampledMs", ms, uint64(ms/each/(uneven*uneven)))
			}
		}
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		ms, ok := t.RanMS.Get()
		if !ok {
			return
		}
		if i == 0 {
			s.recorded(switchesArea)
		}
		if !idle(t.PID, t.Process) && s.is(t.PID, t.Process) {
			s.add("processors.ranMs", ms, uint64(t.Switches.Or(0)))
		}
	}
}

func (s *sums) disks(r *system.FilesResult, whole bool) {
	for i := range r.Files {
		f := &r.Files[i]
		if len(f.Disks) > 0 && s.all["disk.reads"] == nil {
			s.recorded("disks")
		}
		if !s.is(f.PID, f.Process) {
			continue
		}
		for _, d := range f.Disks {
			all := d.Reads + d.Writes + d.Flushes
			s.add("disk.reads", float64(d.Reads), d.Reads)
			s.add("disk.bytesRead", float64(d.BytesRead), d.Reads)
			s.add("disk.writes", float64(d.Writes), d.Writes)
			s.add("disk.bytesWritten", float64(d.BytesWritten), d.Writes)
			s.add("disk.ms", d.MS, all)
			s.add("disk.serviceMs", d.ServiceMS, all)
		}
	}
	if whole && len(r.Busy) > 0 {
		s.recorded("disks as a whole")
		for _, d := range r.Busy {
			s.all["disk.busyMs"].add(d.BusyMS, uint64(s.all["disk.reads"].n+s.all["disk.writes"].n))
		}
	}
}

// files adds the requests to the file system. Kinds that occur nowhere may not have been recorded.
func (s *sums) files(r *system.FilesResult) {
	for _, k := range []struct {
		area, count, bytes string
		of                 func(*system.FileFacts) (n, bytes uint64)
	}{
		{"opened files", "files.opens", "", func(f *system.FileFacts) (n, bytes uint64) { return f.Opens, 0 }},
		{"reads of files", "files.reads", "files.bytesRead", func(f *system.FileFacts) (n, bytes uint64) { return f.Reads, f.BytesRead }},
		{"writes of files", "files.writes", "files.bytesWritten", func(f *system.FileFacts) (n, bytes uint64) { return f.Writes, f.BytesWritten }},
	} {
		for i := range r.Files {
			f := &r.Files[i]
			n, bytes := k.of(f)
			if n > 0 && s.all[k.count] == nil {
				s.recorded(k.area)
			}
			if n > 0 && s.is(f.PID, f.Process) {
				s.add(k.count, float64(n), n)
				if k.bytes != "" {
					s.add(k.bytes, float64(bytes), n)
				}
			}
		}
	}
}

func (s *sums) faults(r *system.FaultsResult) {
	for i := range r.Faults {
		if i == 0 {
			s.recorded("hard faults")
		}
		if f := &r.Faults[i]; s.is(f.PID, f.Process) {
			s.add("faults.count", float64(f.Faults), f.Faults)
			s.add("faults.bytes", float64(f.Bytes), f.Faults)
			s.add("faults.ms", f.MS, f.Faults)
		}
	}
}

func (s *sums) network(r *system.NetworkResult) {
	for i := range r.Connections {
		if i == 0 {
			s.recorded("network")
		}
		if c := &r.Connections[i]; s.is(c.PID, c.Process) {
			s.add("network.sent", float64(c.Sent), c.Sent)
			s.add("network.bytesSent", float64(c.BytesSent), c.Sent)
			s.add("network.received", float64(c.Received), c.Received)
			s.add("network.bytesReceived", float64(c.BytesReceived), c.Received)
			s.add("network.retransmits", float64(c.Retransmits), c.Retransmits)
		}
	}
}
