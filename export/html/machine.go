package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/disk"
	"github.com/etwgen/etwgen/analysis/files"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/analysis/interrupts"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	tables "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/analysis/threads"
	"github.com/etwgen/etwgen/analysis/timeline"
)

// A Machine is the account of all processes of a machine.
type Machine struct {
	System   *system.Result
	Images   *system.ImagesResult
	Files    *system.FilesResult
	Faults   *system.FaultsResult
	Network  *system.NetworkResult
	Switched *threads.Result
	Breaks   *interrupts.Result
	Registry *system.RegistryResult
}

// Findings returns those about the machine, the worst first.
func (m *Machine) Findings() []findings.Finding {
	list := findings.Machine(m.System, m.Switched, m.Breaks, m.Files, m.Faults)
	findings.Sort(list)
	return list
}

// Any reports whether the trace has events of the machine: more than that a .NET program
// tells of itself.
func (m *Machine) Any() bool {
	named := func(p system.ProcessFacts) bool { return p.Name != "" }
	return m.System.Samples+m.System.Switches > 0 || m.System.Machine.Computer != "" || len(m.Images.Images) > 0 ||
		len(m.Files.Files) > 0 || len(m.Faults.Faults) > 0 || len(m.Network.Connections) > 0 || len(m.System.Machine.Power) > 0 || m.Breaks.Count > 0 || len(m.Registry.Keys) > 0 || len(m.System.Processes) > 1 && slices.ContainsFunc(m.System.Processes, named)
}

// Title names the system, as far as the trace does.
func (m *Machine) Title() string {
	f := &m.System.Machine
	return strings.Join(strings.Fields(f.Computer+" "+f.System), " ")
}

// A part is an area of the page of a machine.
type part struct {
	id, title string
	views     []tables.View
	needs     []need.Need
}

// parts returns the areas in the order of the page.
func (m *Machine) parts() []part {
	used := m.used()
	onDisks := system.DisksResult{FilesResult: m.Files}
	return []part{
		{"processes", "Processes", used.Tables()[:1], nil},
		{"threads", "Threads", pickViews(m.System.Tables(), "thread"), cpu.NeedsKernel},
		{"switches", "Context switches", m.switches(), threads.Needs},
		{"interrupts", "Interrupts and DPCs", m.breaks(), interrupts.Needs},
		{"disks", "Disks", pickViews(onDisks.Tables(), "disk", "file"), disk.Needs},
		{"files", "Files", pickViews(m.Files.Tables(), "file"), files.Needs},
		{"faults", "Hard faults", pickViews(m.Faults.Tables(), "file", "process"), []need.Need{need.Faults}},
		{"registry", "Registry", pickViews(m.Registry.Tables(), "key", "process"), []need.Need{need.Registry}},
		{"network", "Network", pickViews(m.Network.Tables(), "connection", "remote"), system.NeedsNetwork},
		{"services", "Services", used.Tables()[1:], nil},
		{"power", "Power", pickViews(m.System.Tables(), "power"), nil},
		{"images", "Images", pickViews(m.Images.Tables(), "file", "image"), nil},
	}
}

// switches returns the tables of context switches, if there are any.
func (m *Machine) switches() []tables.View {
	if m.Switched.Switches == 0 && m.Switched.RunningMS == 0 {
		return nil
	}
	return pickViews(m.Switched.Tables(), "processor", "thread")
}

// breaks returns the tables of interrupts, if there are any.
func (m *Machine) breaks() []tables.View {
	if m.Breaks.Count == 0 {
		return nil
	}
	return pickViews(m.Breaks.Tables(), "interrupt", "routine")
}

// sections are the areas of findings.
var sections = map[string]string{"threads": "machine-switches", "interrupts": "machine-interrupts", "disk": "machine-disks", "faults": "machine-faults", "processes": "machine-processes"}

// pickViews returns those of some names, in this order.
func pickViews(all []tables.View, names ...string) (list []tables.View) {
	for _, name := range names {
		if v, ok := tables.Find(all, name); ok {
			list = append(list, v)
		}
	}
	return list
}

// newMachine makes the view of a machine, and names the events to record for areas that it lacks.
func newMachine(r *Report, t *texts) (*view, []advice) {
	m := r.Machine
	name := cmp.Or(m.System.Machine.Computer, "all processes")
	v := &view{Machine: true, Label: clean("The machine: " + name), Facts: m.facts(), Tiles: m.tiles(), Findings: []finding{}, Sections: []*section{}, subject: new(subject), weight: maxWeight}
	for _, f := range m.Findings() {
		v.Findings = append(v.Findings, finding{f.Severity, f.Text, sections[f.Part]})
	}
	t.name = func(pid int64) string { return r.Processes[pid].Name }
	defer func() { t.name = nil }()
	if x := machineLanes(r); x != nil {
		v.Sections = append(v.Sections, x)
	}
	var missing []advice
	for _, p := range m.parts() {
		sec := &section{ID: "machine-" + p.id, Title: p.title}
		sec.showEach(p.views, t)
		if len(sec.Tables) > 0 {
			v.Sections = append(v.Sections, sec)
			continue
		}
		missing = append(missing, r.advise(sec.ID, p.title, p.needs)...)
	}
	return v, missing
}

// advise names the events to record for an area of the machine.
func (r *Report) advise(section, title string, needs []need.Need) (list []advice) {
	for i := range needs {
		list = append(list, advice{Section: section, Title: title, Keywords: needs[i].What, Command: r.recorder(&needs[i])})
	}
	return list
}

// adviseAll names the events to record of a machine of which a trace has none.
func (r *Report) adviseAll() (list []advice) {
	empty := Machine{new(system.Result), new(system.ImagesResult), new(system.FilesResult), new(system.FaultsResult), new(system.NetworkResult), new(threads.Result), new(interrupts.Result), new(system.RegistryResult)}
	for _, p := range empty.parts() {
		list = append(list, r.advise("machine-"+p.id, p.title, p.needs)...)
	}
	return list
}

// recorder says which tools record what the machine has none of, on the system of the trace.
func (r *Report) recorder(n *need.Need) string {
	if r.Windows {
		return strings.ReplaceAll(n.Recorder, need.OnLinux, "")
	}
	return n.Recorder
}

// maxWeight has the view of the machine come first.
const maxWeight = int(^uint(0) >> 1)

// facts returns the facts about the machine itself.
func (m *Machine) facts() [][2]string {
	f, list := &m.System.Machine, [][2]string{}
	add := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			list = append(list, [2]string{name, clean(text)})
		}
	}
	add("machine", f.Computer)
	add("domain", f.Domain)
	add("system", f.System+" "+f.Build)
	add("model", f.Maker+" "+f.Model)
	if f.Processors > 0 {
		add("processors", strings.TrimSuffix(fmt.Sprintf("%d at %d MHz, %s", f.Processors, f.MHz, f.Processor), ", "))
		add("memory", measure.Size(f.Memory()))
	}
	for _, d := range f.Disks {
		text := d.Model
		for _, p := range d.Partitions {
			text += " " + strings.TrimSpace(p.Drive+" "+p.FileSystem)
		}
		add(fmt.Sprint("disk ", d.Number), text)
	}
	return list
}

// tiles returns the sums that the view of a machine begins with.
func (m *Machine) tiles() []tile {
	threads := ""
	if n := len(m.System.Threads); n > 0 {
		threads = count(n, "thread", "threads")
	}
	list := []tile{}
	if n := len(m.System.Processes); n > 0 {
		list = append(list, tile{"Processes", grouped(float64(n), 0), threads, "machine-processes"})
	}
	if ms, _, _ := m.used().Of(-1); !ms.IsZero() {
		list = append(list, tile{"Processors", span(ms.Or(0)), m.how() + ", without idling", "machine-processes"})
	}
	if disks := (system.DisksResult{FilesResult: m.Files}).Disks(); len(disks) > 0 {
		var sum system.DiskFacts
		for _, d := range disks {
			sum.Reads, sum.BytesRead = sum.Reads+d.Reads, sum.BytesRead+d.BytesRead
			sum.Writes, sum.BytesWritten = sum.Writes+d.Writes, sum.BytesWritten+d.BytesWritten
		}
		list = append(list, tile{"Read from disks", size(float64(sum.BytesRead)), count(sum.Reads, "request", "requests"), "machine-disks"},
			tile{"Written to disks", size(float64(sum.BytesWritten)), count(sum.Writes, "request", "requests"), "machine-disks"})
	}
	if len(m.Network.Connections) > 0 {
		sum := m.Network.Sum()
		list = append(list, tile{"Network", size(float64(sum.BytesSent + sum.BytesReceived)),
			size(float64(sum.BytesSent)) + " sent, " + size(float64(sum.BytesReceived)) + " received", "machine-network"})
	}
	return list
}

func (m *Machine) used() *system.Used {
	return &system.Used{Result: m.System, Files: m.Files, Network: m.Network}
}

// how names the source of processor time.
func (m *Machine) how() string {
	if m.System.Exact() {
		return "by context switches"
	}
	return "by samples"
}

// overview adds to the table of all views what they used of the machine, by the first of
// which it is sorted.
func (m *Machine) overview(t *table, views []*view) {
	used := m.used()
	each := func(which func(cpu, disk, net measure.Float) measure.Float) func(*view) float64 {
		return func(v *view) float64 {
			pid := v.subject.pid
			if v.Machine {
				pid = -1
			}
			return orNaN(which(used.Of(pid)))
		}
	}
	for _, c := range []struct {
		column
		which func(cpu, disk, net measure.Float) measure.Float
	}{
		{column{Key: "cpuMs", Label: "Processor", Unit: "ms", Digits: 1, Help: m.how()}, func(cpu, _, _ measure.Float) measure.Float { return cpu }},
		{column{Key: "diskBytes", Label: "Disks", Unit: "bytes"}, func(_, disk, _ measure.Float) measure.Float { return disk }},
		{column{Key: "networkBytes", Label: "Network", Unit: "bytes"}, func(_, _, net measure.Float) measure.Float { return net }},
	} {
		num(t, views, c.column, each(c.which))
		if last := len(t.Columns) - 1; !t.Columns[last].hasAny() {
			t.Columns = t.Columns[:last]
		} else if t.Sort == "" {
			t.Sort = c.Key
		}
	}
}

// machineKinds are the lanes of a machine: of each the sum of all processes, then those that
// had most of it.
var machineKinds = []timeline.Kind{timeline.CPU, timeline.Running, timeline.Disk, timeline.Network}

// maxUsers is how many processes have a lane of their own in each kind.
const maxUsers = 3

// machineLanes makes the timeline of a machine, or nil if there is none.
func machineLanes(r *Report) *section {
	res := r.Result.Timeline
	if res == nil {
		return nil
	}
	t := newTracks(res)
	for _, kind := range machineKinds {
		var all *timeline.Lane
		var own []*lane
		for _, l := range res.Lanes {
			if l.Kind != kind || l.TID != 0 || l.How != timeline.Sum {
				continue
			}
			all = sumLanes(all, l)
			if len(own) < maxUsers {
				x := laneOf(l)
				name := r.Processes[l.PID].Name
				if l.Several() {
					name = l.Process
				}
				if x.Label = "process not known"; l.PID >= 0 {
					x.Label = clean(cmp.Or(name, "process")) + fmt.Sprintf(" (%d)", l.PID)
				}
				own = append(own, x)
			}
		}
		if all != nil {
			t.Lanes = append(append(t.Lanes, laneOf(all)), own...)
		}
	}
	if len(t.Lanes) == 0 {
		return nil
	}
	return &section{ID: "timeline", Title: "Timeline", Tracks: t, Lead: []string{"Of processors, disks and the network: all processes together, then those that used most."}}
}

// sumLanes adds a lane to the sum of those before, which may be nil.
func sumLanes(sum, l *timeline.Lane) *timeline.Lane {
	if sum == nil {
		sum = &timeline.Lane{Kind: l.Kind, Unit: l.Unit, How: l.How, Values: make([]measure.Float, len(l.Values))}
	}
	sum.Total = measure.Sum(sum.Total, l.Total)
	for i, v := range l.Values {
		sum.Values[i] = measure.Sum(sum.Values[i], v)
	}
	return sum
}
