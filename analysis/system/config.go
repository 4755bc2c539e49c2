package system

import (
	"cmp"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Facts describe the machine itself. Facts that the trace lacks are empty or 0.
type Facts struct {
	Computer   string `json:"computer,omitempty"`
	Domain     string `json:"domain,omitempty"`
	Maker      string `json:"maker,omitempty"`
	Model      string `json:"model,omitempty"`
	System     string `json:"system,omitempty"` // such as Windows 10 Enterprise
	Build      string `json:"build,omitempty"`
	Processors int    `json:"processors,omitempty"`
	Processor  string `json:"processor,omitempty"`
	MHz        int    `json:"mhz,omitempty"`
	MemoryMB   int    `json:"memoryMB,omitempty"` // of 1<<20 bytes, as the system counts
	PageSize   int    `json:"pageSize,omitempty"`
	Disks      []Disk `json:"disks,omitempty"`

	Adapters []Adapter `json:"adapters,omitempty"`
	Services []Service `json:"services,omitempty"`
	// Power are the states of power of the whole machine, in the order of their first events.
	Power []PowerState `json:"power,omitempty"`
}

// A Disk is a disk of the machine.
type Disk struct {
	Number         uint32      `json:"number"`
	Model          string      `json:"model,omitempty"`
	BytesPerSector uint32      `json:"bytesPerSector,omitempty"`
	Partitions     []Partition `json:"partitions,omitempty"`
}

// A Partition is a part of a disk.
type Partition struct {
	Number     uint32 `json:"number"`
	Drive      string `json:"drive,omitempty"` // such as C:
	FileSystem string `json:"fileSystem,omitempty"`
	Offset     uint64 `json:"offset"`
	Size       uint64 `json:"size"`
}

// Facts returns the facts about the machine. It shares no memory that changes.
func (m *Machine) Facts() Facts {
	f := m.facts
	f.Adapters, f.Services = append([]Adapter(nil), f.Adapters...), append([]Service(nil), f.Services...)
	f.Disks, f.Power = append([]Disk(nil), f.Disks...), append([]PowerState(nil), f.Power...)
	order.Sort(f.Disks, func(a, b Disk) int { return cmp.Compare(a.Number, b.Number) })
	for i := range f.Disks {
		f.Disks[i].Partitions = append([]Partition(nil), f.Disks[i].Partitions...)
	}
	return f
}

// Memory returns how many bytes of memory the machine has, or 0.
func (f *Facts) Memory() float64 { return float64(f.MemoryMB) * (1 << 20) }

// fixed returns a text that fills a field of fixed size up with NUL or blanks.
func fixed(s etw.UTF16) string {
	text, _, _ := strings.Cut(s.String(), "\x00")
	return strings.TrimSpace(text)
}

// A service runs in a process under a tag.
type service struct {
	pid int64
	tag uint32
}

// Service returns the name of the service that a thread worked for when it came
// up, or "".
func (m *Machine) Service(t *Thread) string {
	if t.tag == 0 || t.Process == nil {
		return ""
	}
	return m.services[service{t.Process.PID, t.tag}]
}

// watchConfig takes the events of the kernel and of merging that describe the machine.
func (m *Machine) watchConfig(mux *etw.Mux) {
	f := &m.facts
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySysConfigVolumeMapping) {
		m.volumes.add(e.NtPath.String(), e.DosPath.String())
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySysConfigSystemPaths) {
		m.volumes.windows = strings.TrimSuffix(e.SystemWindowsDirectory.String(), `\`)
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySysConfigBuildInfo) {
		f.System, f.Build = e.ProductName.String(), e.BuildLab.String()
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyEventTraceBuildInfo) { f.Build = e.BuildString.String() })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigCPU) {
		f.Computer, f.Domain = fixed(e.ComputerName), fixed(e.DomainName)
		f.Processors, f.MHz = int(e.NumberOfProcessors), int(e.MHz)
		f.MemoryMB, f.PageSize = int(e.MemSize), int(e.PageSize)
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigProcessors) { f.Processor = fixed(e.ProcessorName) })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigPlatform) {
		f.Maker, f.Model = fixed(e.SystemManufacturer), fixed(e.SystemProductName)
	})
	m.watchDisks(mux)
	m.watchServices(mux)
}

func (m *Machine) watchDisks(mux *etw.Mux) {
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigPhyDisk) {
		d := m.disk(e.DiskNumber)
		d.Model, d.BytesPerSector = fixed(e.Manufacturer), e.BytesPerSector
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnySystemConfigLogDisk) {
		d := m.disk(e.DiskNumber)
		p := Partition{Number: e.PartitionNumber, Drive: fixed(e.DriveLetterString), FileSystem: fixed(e.FileSystem),
			Offset: e.StartOffset, Size: e.PartitionSize}
		for i := range d.Partitions {
			if d.Partitions[i].Number == p.Number {
				d.Partitions[i] = p
				return
			}
		}
		d.Partitions = append(d.Partitions, p)
	})
}

// disk returns the disk with a number.
func (m *Machine) disk(number uint32) *Disk {
	for i := range m.facts.Disks {
		if m.facts.Disks[i].Number == number {
			return &m.facts.Disks[i]
		}
	}
	m.facts.Disks = append(m.facts.Disks, Disk{Number: number})
	return &m.facts.Disks[len(m.facts.Disks)-1]
}
