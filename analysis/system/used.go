package system

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
)

// A Used is the use of a machine by processes: processors, disks and the network.
type Used struct {
	*Result
	Files   *FilesResult
	Network *NetworkResult
}

// A user is whom disks and the network name.
type user struct {
	pid  ID
	name string
}

// Exact reports whether context switches tell the processor time, all of which the trace has.
// Where there are no samples, those that it has are the best there is. They do not where they
// say no more than that threads rested, as those of some recorders of Linux.
func (r *Result) Exact() bool {
	told := func(p ProcessFacts) bool { return !p.RanMS.IsZero() }
	return (r.Gaps == 0 || r.Samples == 0) && slices.ContainsFunc(r.Processes, told)
}

// idles reports whether a process stands for processors that do nothing. Of Linux process 0
// stands for others, which do something.
func (p *ProcessFacts) idles() bool { return p.PID == 0 && p.Name != OutsideName }

// Of returns the processor time of a process, and the bytes that it moved from and to disks
// and over the network, each as far as the trace tells. If its number was used again, that is
// the sum of all that had it; of -1 it is all of the machine but idling.
func (u *Used) Of(pid int64) (cpuMS, diskBytes, netBytes measure.Float) {
	its, exact := func(id int64) bool { return id == pid || pid < 0 }, u.Exact()
	for i := range u.Processes {
		if p := &u.Processes[i]; its(p.PID) && (pid == 0 || !p.idles()) {
			ms := p.SampledMS
			if exact {
				ms = p.RanMS
			}
			cpuMS = measure.Sum(cpuMS, ms)
		}
	}
	for i := range u.Files.Files {
		for k := range u.Files.Files[i].Disks {
			diskBytes = measure.Sum(diskBytes, measure.Known(0))
			if d := &u.Files.Files[i].Disks[k]; its(int64(u.Files.Files[i].PID)) {
				diskBytes = measure.Sum(diskBytes, measure.Known(float64(d.BytesRead+d.BytesWritten)))
			}
		}
	}
	for i := range u.Network.Connections {
		netBytes = measure.Sum(netBytes, measure.Known(0))
		if c := &u.Network.Connections[i]; its(int64(c.PID)) {
			netBytes = measure.Sum(netBytes, measure.Known(float64(c.BytesSent+c.BytesReceived)))
		}
	}
	return cpuMS, diskBytes, netBytes
}

// Tables returns the processes as a tree, with the use of each. Where several processes of
// one name had a number one after the other, nothing tells which of them used disks.
func (u *Used) Tables() []table.View {
	disks, net := make(map[user]*DiskFacts), make(map[user]*ConnectionFacts)
	for i := range u.Files.Files {
		f := &u.Files.Files[i]
		for k := range f.Disks {
			at(disks, user{f.PID, f.Process}).addUp(&f.Disks[k])
		}
	}
	for i := range u.Network.Connections {
		c := &u.Network.Connections[i]
		at(net, user{c.PID, c.Process}).addUp(c)
	}
	alike := make(map[user]int)
	for _, p := range u.Processes {
		alike[user{ID(p.PID), p.Name}]++
	}
	rows := Tree(u.Processes)
	for i, n := range rows {
		row, who := &rows[i], user{ID(n.Process.PID), n.Process.Name}
		if len(disks) > 0 && alike[who] == 1 {
			row.disk = at(disks, who)
		}
		if len(net) > 0 && alike[who] == 1 {
			row.net = at(net, who)
		}
	}
	return []table.View{table.Of("used", "Processes", table.Refs(rows), usedColumns()...), u.services()}
}

// at returns the sum of a key.
func at[K comparable, T any](sums map[K]*T, k K) *T {
	if sums[k] == nil {
		sums[k] = new(T)
	}
	return sums[k]
}

func usedColumns() []table.Column[*Node] {
	disk := func(of func(*DiskFacts) float64) func(*Node) measure.Float {
		return func(x *Node) measure.Float {
			if x.disk == nil {
				return measure.Float{}
			}
			return measure.Known(of(x.disk))
		}
	}
	net := func(of func(*ConnectionFacts) float64) func(*Node) measure.Float {
		return func(x *Node) measure.Float {
			if x.net == nil {
				return measure.Float{}
			}
			return measure.Known(of(x.net))
		}
	}
	columns := []table.Column[*Node]{
		table.Text("process", func(x *Node) string { return x.Label() }),
		table.ID("pid", func(x *Node) int64 { return x.Process.PID }),
		table.ID("parentPid", func(x *Node) ID { return x.Process.ParentPID }).Natural().For(table.Details),
		table.Amount("sampledMs", func(x *Node) measure.Float { return x.Process.SampledMS }).To(1).As("Processor, sampled").IfAny().Helped("samples, times the interval between two"),
		table.Amount("ranMs", func(x *Node) measure.Float { return x.Process.RanMS }).To(1).As("Processor, by switches").IfAny().Helped("between context switches, which is exact"),
		table.Amount("diskReadBytes", disk(func(d *DiskFacts) float64 { return float64(d.BytesRead) })).As("Read from disks").IfAny(),
		table.Amount("diskWrittenBytes", disk(func(d *DiskFacts) float64 { return float64(d.BytesWritten) })).As("Written to disks").IfAny(),
		table.Amount("diskMs", disk(func(d *DiskFacts) float64 { return d.MS })).To(1).As("Waits for disks").IfAny().Helped("from asking to the answer, of requests at the same time added"),
		table.Amount("sentBytes", net(func(c *ConnectionFacts) float64 { return float64(c.BytesSent) })).As("Sent").IfAny(),
		table.Amount("receivedBytes", net(func(c *ConnectionFacts) float64 { return float64(c.BytesReceived) })).As("Received").IfAny(),
		table.Count("threads", func(x *Node) int { return x.Process.Threads }).IfAny(),
		table.Count("images", func(x *Node) int { return x.Process.Images }).IfAny(),
		table.Moment("startMs", func(x *Node) measure.Float { return x.Process.StartMS }).IfAny(),
		table.Moment("endMs", func(x *Node) measure.Float { return x.Process.EndMS }).IfAny(),
	}
	columns = append(columns, ExitCodes(func(x *Node) measure.Float { return x.Process.ExitCode })...)
	return append(columns,
		table.Text("runtime", func(x *Node) string { return x.Process.Runtime }).IfAny(),
		table.Text("commandLine", func(x *Node) string { return x.Process.CommandLine }).For(table.Details),
		table.Text("user", func(x *Node) string { return x.Process.User }).For(table.Details),
	)
}

// services adds up the processor time of threads by the service that they work for.
func (r *Result) services() table.View {
	type key struct {
		user
		service string
	}
	at := make(map[key]int)
	var rows []ThreadFacts
	for i := range r.Threads {
		t := &r.Threads[i]
		if t.Service == "" {
			continue
		}
		k := key{user{t.PID, t.Process}, t.Service}
		n, ok := at[k]
		if !ok {
			n = len(rows)
			at[k], rows = n, append(rows, ThreadFacts{PID: t.PID, Process: t.Process, Service: t.Service})
		}
		rows[n].SampledMS, rows[n].RanMS = measure.Sum(rows[n].SampledMS, t.SampledMS), measure.Sum(rows[n].RanMS, t.RanMS)
	}
	order.Stable(rows, func(a, b ThreadFacts) int {
		return cmp.Or(cmp.Compare(b.RanMS.Or(0), a.RanMS.Or(0)), cmp.Compare(b.SampledMS.Or(0), a.SampledMS.Or(0)))
	})
	return table.Of("service", "Services", table.Refs(rows),
		table.Text("service", func(t *ThreadFacts) string { return t.Service }),
		table.ID("pid", func(t *ThreadFacts) ID { return t.PID }).Natural(),
		table.Text("process", func(t *ThreadFacts) string { return t.Process }),
		table.Amount("sampledMs", func(t *ThreadFacts) measure.Float { return t.SampledMS }).IfAny(),
		table.Amount("ranMs", func(t *ThreadFacts) measure.Float { return t.RanMS }).IfAny())
}
