package system

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/internal/order"
)

// A group is the sum of rows that have a key in common. Columns are left out of which the
// key has nothing.
type group[K comparable, T any] struct {
	key K
	sum *T
}

// A grouping adds up rows by their keys.
type grouping[K comparable, T any] struct {
	sums   map[K]*T
	groups []*group[K, T]
}

// at returns the sum of a key.
func (g *grouping[K, T]) at(k K) *T {
	sum := g.sums[k]
	if sum == nil {
		if g.sums == nil {
			g.sums = make(map[K]*T)
		}
		sum = new(T)
		g.sums[k] = sum
		g.groups = append(g.groups, &group[K, T]{k, sum})
	}
	return sum
}

// sorted returns the groups in an order.
func (g *grouping[K, T]) sorted(compare func(a, b *T) int) []*group[K, T] {
	order.Stable(g.groups, func(a, b *group[K, T]) int { return compare(a.sum, b.sum) })
	return g.groups
}

// A fileKey is the file, the process or the disk of a row.
type fileKey struct {
	path    string
	pid     ID
	process string
	disk    uint32
}

// parts says whether the rows of a view are of files, and of processes.
func parts(view string) (file, process bool) {
	return view == "file" || view == "access", view == "process" || view == "access"
}

func (f *FileFacts) key(view string) (k fileKey) {
	file, process := parts(view)
	if file {
		k.path = cmp.Or(f.Path, unknown)
	}
	if process {
		k.pid, k.process = f.PID, f.Process
	}
	return k
}

// keyColumns say whose a row of a view is.
func keyColumns[T any](view string) (list []table.Column[*group[fileKey, T]]) {
	type row = group[fileKey, T]
	file, process := parts(view)
	if file {
		list = append(list, table.Text("path", func(x *row) string { return x.key.path }))
	}
	if process {
		list = append(list, table.ID("pid", func(x *row) ID { return x.key.pid }).Natural(), table.Text("process", func(x *row) string { return x.key.process }))
	}
	return list
}

// Operations are the requests to the file system.
func (f *FileFacts) Operations() uint64 { return f.Opens + f.Reads + f.Writes + f.Others }

// Tables returns the tables of the file system: by file, process, or both.
func (r *FilesResult) Tables() []table.View {
	return []table.View{r.byFile("file", "Files"), r.byFile("process", "Processes"), r.byFile("access", "Files by process")}
}

// All adds up the requests of all processes to the file system, whichever are left in Files:
// kinds that occur nowhere may not have been recorded.
func (r *FilesResult) All() FileFacts { return r.all }

// Sum adds up the requests to the file system.
func (r *FilesResult) Sum() (sum FileFacts) {
	for i := range r.Files {
		sum.addUp(&r.Files[i])
	}
	return sum
}

func (f *FileFacts) addUp(x *FileFacts) {
	f.Opens += x.Opens
	f.Reads += x.Reads
	f.BytesRead += x.BytesRead
	f.Writes += x.Writes
	f.BytesWritten += x.BytesWritten
	f.Others += x.Others
	f.MS += x.MS
	f.failed += x.failed
	f.longestMS = max(f.longestMS, x.longestMS)
}

func (r *FilesResult) byFile(name, title string) table.View {
	type row = group[fileKey, FileFacts]
	var groups grouping[fileKey, FileFacts]
	for i := range r.Files {
		if f := &r.Files[i]; f.Operations() > 0 {
			groups.at(f.key(name)).addUp(f)
		}
	}
	rows := groups.sorted(func(a, b *FileFacts) int {
		return cmp.Or(cmp.Compare(b.BytesRead+b.BytesWritten, a.BytesRead+a.BytesWritten), cmp.Compare(b.MS, a.MS), cmp.Compare(b.Operations(), a.Operations()))
	})
	all := r.All()
	// Nobody knows whether kinds that occur nowhere were recorded: people see no zeros of them.
	count := func(name string, of func(*FileFacts) uint64) table.Column[*row] {
		c := table.Count(name, func(x *row) uint64 { return of(x.sum) })
		if of(&all) == 0 {
			c = c.For(table.Programs)
		}
		return c
	}
	took := table.Amount("ms", func(x *row) float64 { return x.sum.MS })
	if all.MS == 0 {
		took = took.For(table.Programs)
	}
	return table.Of(name, title, rows, append(keyColumns[FileFacts](name),
		count("opens", func(x *FileFacts) uint64 { return x.Opens }),
		count("reads", func(x *FileFacts) uint64 { return x.Reads }),
		count("bytesRead", func(x *FileFacts) uint64 { return x.BytesRead }),
		count("writes", func(x *FileFacts) uint64 { return x.Writes }),
		count("bytesWritten", func(x *FileFacts) uint64 { return x.BytesWritten }),
		count("others", func(x *FileFacts) uint64 { return x.Others }),
		took)...)
}

// A DisksResult is the transfers to and from disks.
type DisksResult struct{ *FilesResult }

// Tables returns the tables of disks: by file, disk, process, or file and process.
func (r DisksResult) Tables() []table.View {
	return []table.View{r.byDisk("file", "Files"), r.byDisk("disk", "Disks"), r.byDisk("process", "Processes"), r.byDisk("access", "Files by process")}
}

// Disks adds up the transfers to and from each disk.
func (r DisksResult) Disks() []DiskFacts {
	var list []DiskFacts
	for _, g := range r.groups("disk").groups {
		g.sum.Disk = g.key.disk
		list = append(list, *g.sum)
	}
	order.Sort(list, func(a, b DiskFacts) int { return cmp.Compare(a.Disk, b.Disk) })
	return list
}

// TimeOf returns how long a disk was busy, and whether the trace tells it.
func (r *FilesResult) TimeOf(disk uint32) (t DiskTime, ok bool) {
	for _, d := range r.Busy {
		if d.Disk == disk {
			return d, true
		}
	}
	return t, false
}

func (r DisksResult) groups(view string) (groups grouping[fileKey, DiskFacts]) {
	for i := range r.Files {
		f := &r.Files[i]
		for k := range f.Disks {
			key := f.key(view)
			key.disk = f.Disks[k].Disk
			groups.at(key).addUp(&f.Disks[k])
		}
	}
	return groups
}

func (d *DiskFacts) addUp(x *DiskFacts) {
	d.Reads += x.Reads
	d.BytesRead += x.BytesRead
	d.Writes += x.Writes
	d.BytesWritten += x.BytesWritten
	d.Flushes += x.Flushes
	d.MS += x.MS
	d.ServiceMS += x.ServiceMS
}

func (r DisksResult) byDisk(name, title string) table.View {
	type row = group[fileKey, DiskFacts]
	groups := r.groups(name)
	rows := groups.sorted(func(a, b *DiskFacts) int { return cmp.Compare(b.MS, a.MS) })
	disk := []table.Column[*row]{table.ID("disk", func(x *row) uint32 { return x.key.disk })}
	var busy []table.Column[*row]
	of := func(get func(DiskTime) float64) func(*row) measure.Float {
		return func(x *row) measure.Float {
			if t, ok := r.TimeOf(x.key.disk); ok {
				return measure.Known(get(t))
			}
			return measure.Float{}
		}
	}
	if name == "disk" {
		busy = append(busy,
			table.Amount("busyMs", of(func(t DiskTime) float64 { return t.BusyMS })).Helped("with anything to answer, for all processes"),
			table.Amount("queueDepth", of(func(t DiskTime) float64 { return t.QueueDepth })).Helped("requests when one began, itself among them: the mean"),
			table.Amount("maxQueueDepth", of(func(t DiskTime) float64 { return float64(t.MaxQueueDepth) })).To(0).Helped("the most of these"))
	}
	return table.Of(name, title, rows, slices.Concat(disk, keyColumns[DiskFacts](name), []table.Column[*row]{
		table.Count("reads", func(x *row) uint64 { return x.sum.Reads }),
		table.Count("bytesRead", func(x *row) uint64 { return x.sum.BytesRead }),
		table.Count("writes", func(x *row) uint64 { return x.sum.Writes }),
		table.Count("bytesWritten", func(x *row) uint64 { return x.sum.BytesWritten }),
		table.Count("flushes", func(x *row) uint64 { return x.sum.Flushes }),
		table.Amount("ms", func(x *row) float64 { return x.sum.MS }).Helped("from asking to the answer, of requests at the same time added"),
		table.Amount("serviceMs", func(x *row) float64 { return x.sum.ServiceMS }).Helped("of that, after the disk had answered the request before"),
	}, busy)...)
}

// A netKey is the connection, the process or the address of a row.
type netKey struct {
	pid           ID
	process       string
	protocol      string
	local, remote netip.AddrPort
	address       netip.Addr
}

func (c *ConnectionFacts) addUp(x *ConnectionFacts) {
	if c.Sent+c.Received+c.Retransmits+c.Connects+c.Accepts+c.Disconnects == 0 {
		c.FirstMS, c.LastMS = x.FirstMS, x.LastMS
	}
	c.FirstMS, c.LastMS = min(c.FirstMS, x.FirstMS), max(c.LastMS, x.LastMS)
	c.Sent += x.Sent
	c.BytesSent += x.BytesSent
	c.Received += x.Received
	c.BytesReceived += x.BytesReceived
	c.Retransmits += x.Retransmits
	c.Connects += x.Connects
	c.Accepts += x.Accepts
	c.Disconnects += x.Disconnects
}

// Sum adds up all connections.
func (r *NetworkResult) Sum() (sum ConnectionFacts) {
	for i := range r.Connections {
		sum.addUp(&r.Connections[i])
	}
	return sum
}

// Tables returns the tables of a result: by connection, process, or address of the other side.
func (r *NetworkResult) Tables() []table.View {
	type row = group[netKey, ConnectionFacts]
	process := []table.Column[*row]{
		table.ID("pid", func(x *row) ID { return x.key.pid }).Natural(),
		table.Text("process", func(x *row) string { return x.key.process }),
	}
	connection := append(slices.Clip(process), table.Text("protocol", func(x *row) string { return x.key.protocol }),
		table.Text("local", func(x *row) string { return x.key.local.String() }),
		table.Text("remote", func(x *row) string { return x.key.remote.String() }))
	address := []table.Column[*row]{table.Text("address", func(x *row) string { return x.key.address.String() })}
	return []table.View{
		r.by("connection", "Connections", connection, func(c *ConnectionFacts) netKey {
			return netKey{c.PID, c.Process, c.Protocol, c.Local, c.Remote, netip.Addr{}}
		}),
		r.by("process", "Processes", process, func(c *ConnectionFacts) netKey { return netKey{pid: c.PID, process: c.Process} }),
		r.by("remote", "Other sides", address, func(c *ConnectionFacts) netKey { return netKey{address: c.Remote.Addr()} }),
	}
}

func (r *NetworkResult) by(name, title string, columns []table.Column[*group[netKey, ConnectionFacts]], key func(*ConnectionFacts) netKey) table.View {
	type row = group[netKey, ConnectionFacts]
	var groups grouping[netKey, ConnectionFacts]
	for i := range r.Connections {
		groups.at(key(&r.Connections[i])).addUp(&r.Connections[i])
	}
	rows := groups.sorted(func(a, b *ConnectionFacts) int {
		return cmp.Compare(b.BytesSent+b.BytesReceived, a.BytesSent+a.BytesReceived)
	})
	return table.Of(name, title, rows, append(columns,
		table.Count("sent", func(x *row) uint64 { return x.sum.Sent }),
		table.Count("bytesSent", func(x *row) uint64 { return x.sum.BytesSent }),
		table.Count("received", func(x *row) uint64 { return x.sum.Received }),
		table.Count("bytesReceived", func(x *row) uint64 { return x.sum.BytesReceived }),
		table.Count("retransmits", func(x *row) uint64 { return x.sum.Retransmits }),
		table.Count("connects", func(x *row) uint64 { return x.sum.Connects }).IfAny(),
		table.Count("accepts", func(x *row) uint64 { return x.sum.Accepts }).IfAny(),
		table.Count("disconnects", func(x *row) uint64 { return x.sum.Disconnects }).IfAny(),
		table.Moment("firstMs", func(x *row) float64 { return x.sum.FirstMS }),
		table.Moment("lastMs", func(x *row) float64 { return x.sum.LastMS }))...)
}
