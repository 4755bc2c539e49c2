package figures

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/threads"
)

// A Machine is the answers about the machine of a recording.
type Machine struct {
	System  *system.Result // of a [system.Usage]
	Files   *system.FilesResult
	Faults  *system.FaultsResult
	Network *system.NetworkResult
	Threads *threads.Result
	Breaks  *interrupts.Result
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
	s.threads(m.Threads)
	if m.Asked == nil && m.Breaks.Count > 0 {
		s.add("interrupts", -1, "", counted(uint64(m.Breaks.Count)), summed(m.Breaks.OwnMS, uint64(m.Breaks.Count)))
	}
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
	of    func(pid int64, name string) bool
	all   map[string]*amount
	parts map[string]map[string]*amount
}

// An amount is the sum of n values.
type amount struct {
	v float64
	n int
}

func (a *amount) add(x amount) {
	a.v += x.v
	a.n += x.n
}

// counted is so many things, and summed the sum of so many values.
func counted(n uint64) amount           { return amount{float64(n), int(n)} }
func summed(v float64, n uint64) amount { return amount{v, int(n)} }

// recorded has the figures of an area be 0 at least.
func (s *sums) recorded(area string) {
	for i := range kinds {
		if k := &kinds[i]; k.Area == area && !k.has(process) && s.all[k.Metric] == nil {
			s.all[k.Metric] = new(amount)
		}
	}
}

// add adds amounts of a process to the figures of an area, in the order in which the area has them.
func (s *sums) add(area string, pid system.ID, name string, amounts ...amount) {
	s.recorded(area)
	if s.of != nil && !s.of(int64(pid), name) {
		return
	}
	for i := range kinds {
		k := &kinds[i]
		if k.Area != area || k.has(process) {
			continue
		}
		s.all[k.Metric].add(amounts[0])
		if i+1 < len(kinds) && kinds[i+1].has(process) { // of the same
			s.part(kinds[i+1].Metric, cmp.Or(name, "(unknown)")).add(amounts[0])
		}
		amounts = amounts[1:]
	}
}

func (s *sums) part(metric, name string) *amount {
	of := s.parts[metric]
	if of == nil {
		of = make(map[string]*amount)
		s.parts[metric] = of
	}
	if of[name] == nil {
		of[name] = new(amount)
	}
	return of[name]
}

// processors adds the time on processors, that of the idle process excepted.
func (s *sums) processors(r *system.Result) {
	idle := func(pid system.ID, name string) bool { return pid == 0 && name != system.OutsideName }
	if each, ok := r.SampleMS.Get(); ok {
		s.recorded(samplesArea)
		for i := range r.Processes {
			if p := &r.Processes[i]; !idle(system.ID(p.PID), p.Name) {
				ms := p.SampledMS.Or(0)
				s.add(samplesArea, system.ID(p.PID), p.Name, summed(ms, uint64(ms/each/(uneven*uneven))))
			}
		}
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		if ms, ok := t.RanMS.Get(); ok && !idle(t.PID, t.Process) {
			s.add(switchesArea, t.PID, t.Process, summed(ms, uint64(t.Switches.Or(0))))
		}
	}
}

func (s *sums) disks(r *system.FilesResult, whole bool) {
	requests, disks := uint64(0), make(map[uint32]*system.DiskFacts)
	for i := range r.Files {
		f := &r.Files[i]
		for _, d := range f.Disks {
			all := d.Reads + d.Writes + d.Flushes
			requests += all
			s.add("disks", f.PID, f.Process, counted(d.Reads), summed(float64(d.BytesRead), d.Reads), counted(d.Writes), summed(float64(d.BytesWritten), d.Writes),
				summed(d.MS, all), summed(d.ServiceMS, all))
			if all > 0 && (s.of == nil || s.of(int64(f.PID), f.Process)) {
				if disks[d.Disk] == nil {
					disks[d.Disk] = new(system.DiskFacts)
				}
				of := disks[d.Disk]
				of.Reads, of.MS, of.ServiceMS = of.Reads+all, of.MS+d.MS, of.ServiceMS+d.ServiceMS
			}
		}
	}
	for disk, of := range disks {
		n, name := float64(of.Reads), fmt.Sprint(disk)
		s.part("disk.requestMs.*", name).add(summed(of.MS/n, of.Reads))
		s.part("disk.requestServiceMs.*", name).add(summed(of.ServiceMS/n, of.Reads))
	}
	for _, d := range r.Busy {
		if whole {
			s.recorded(busyArea)
			s.all["disk.busyMs"].add(summed(d.BusyMS, 0))
			s.all["disk.busyMs"].n = int(requests)
		}
	}
}

// files adds the requests to the file system. Kinds that occur nowhere may not have been recorded.
func (s *sums) files(r *system.FilesResult) {
	for i := range r.Files {
		f := &r.Files[i]
		if f.Opens > 0 {
			s.add("opened files", f.PID, f.Process, counted(f.Opens))
		}
		if f.Reads > 0 {
			s.add("reads of files", f.PID, f.Process, counted(f.Reads), summed(float64(f.BytesRead), f.Reads))
		}
		if f.Writes > 0 {
			s.add("writes of files", f.PID, f.Process, counted(f.Writes), summed(float64(f.BytesWritten), f.Writes))
		}
	}
}

func (s *sums) faults(r *system.FaultsResult) {
	for i := range r.Faults {
		f := &r.Faults[i]
		s.add("hard faults", f.PID, f.Process, counted(f.Faults), summed(float64(f.Bytes), f.Faults), summed(f.MS, f.Faults))
	}
}

// threads adds for how long threads could run and did not, where events tell since when.
func (s *sums) threads(r *threads.Result) {
	for i := range r.Threads {
		if t := &r.Threads[i]; r.Readies > 0 {
			s.add("ready threads", system.ID(t.PID), t.Process, summed(t.ReadyMS, uint64(t.Waits+t.Preempted)))
		}
	}
}

func (s *sums) network(r *system.NetworkResult) {
	for i := range r.Connections {
		c := &r.Connections[i]
		s.add("network", c.PID, c.Process, counted(c.Sent), summed(float64(c.BytesSent), c.Sent), counted(c.Received), summed(float64(c.BytesReceived), c.Received), counted(c.Retransmits))
	}
}
