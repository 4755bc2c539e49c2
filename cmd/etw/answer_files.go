package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newFiles returns the command that shows what was asked of the file system.
func newFiles() *cobra.Command {
	return (&question{
		name:  "files",
		short: "Show what was asked of files: reads, writes, bytes and time",
		long: `Files shows what programs asked the file system for: how often each file was opened,
read and written, how many bytes were asked for, and how long that took. What of it
went to a disk, etw disks shows; the rest was in memory. Operations may run at the
same time, so that their times add up to more than passed.

The rows are files, or what --by says: processes, or files by process.`,
		example: `  etw files machine.etl
  etw files --by process machine.etl
  etw files --by access --process child.exe --format csv machine.etl
  etw files --format json machine.etl | jq '.files[].reads'`,
		views:   []string{"file", "process", "access"},
		missing: "the trace has no events of operations on files; wpr -start FileIO, or the kernel flags FileIOInit and FileIO, record them",
		ask: func(mux *etw.Mux) answer {
			return &filesAnswer{machine: newMachine(mux), files: system.FilesOf(mux)}
		},
	}).command()
}

// A filesAnswer is about files, on the file system or on disks.
type filesAnswer struct {
	machine
	files *system.Files
	res   *system.FilesResult
}

func (a *filesAnswer) take() bool {
	a.res = a.files.Result()
	a.res.Files = slices.DeleteFunc(a.res.Files, func(f system.FileFacts) bool { return !a.chosen.Has(int64(f.PID)) })
	return slices.ContainsFunc(a.res.Files, func(f system.FileFacts) bool { return f.Opens+f.Reads+f.Writes+f.Others > 0 })
}

func (a *filesAnswer) result() any { return a.res }

func (a *filesAnswer) warnings() []string {
	return a.untold(func(f *system.FileFacts) uint64 { return f.Opens + f.Reads + f.Writes + f.Others })
}

// untold says of how many operations the file or the process is not known.
func (a *filesAnswer) untold(operations func(*system.FileFacts) uint64) []string {
	var unnamed, unowned uint64
	for i := range a.res.Files {
		f := &a.res.Files[i]
		if f.Path == "" {
			unnamed += operations(f)
		}
		if f.PID < 0 {
			unowned += operations(f)
		}
	}
	list := a.doubts()
	if unnamed > 0 {
		list = append(list, fmt.Sprintf("the trace does not tell the files of %s", count(unnamed, "operation", "operations")))
	}
	if unowned > 0 {
		list = append(list, fmt.Sprintf("the trace does not tell the processes of %s", count(unowned, "operation", "operations")))
	}
	return list
}

func (a *filesAnswer) totals(p *page) {
	var sum system.FileFacts
	for i := range a.res.Files {
		addFile(&sum, &a.res.Files[i])
	}
	p.title("files")
	p.line("opened", "%s", count(sum.Opens, "time", "times"))
	p.line("read", "%s in %s", mb(float64(sum.BytesRead)/1e6), count(sum.Reads, "operation", "operations"))
	p.line("written", "%s in %s", mb(float64(sum.BytesWritten)/1e6), count(sum.Writes, "operation", "operations"))
}

// addFile adds what was asked of the file system.
func addFile(sum, f *system.FileFacts) {
	sum.Opens += f.Opens
	sum.Reads += f.Reads
	sum.BytesRead += f.BytesRead
	sum.Writes += f.Writes
	sum.BytesWritten += f.BytesWritten
	sum.Others += f.Others
	sum.MS += f.MS
}

func (a *filesAnswer) table(view string, _ *names) *table {
	groups := groupsOf[system.FileFacts]{}
	for i := range a.res.Files {
		f := &a.res.Files[i]
		if f.Opens+f.Reads+f.Writes+f.Others > 0 {
			addFile(groups.at(keyOf(f, view != "process", view != "file")), f)
		}
	}
	t := newTable(label("path"), idColumn("pid"), label("process"), counted("opens"), counted("reads"), counted("bytesRead"),
		counted("writes"), counted("bytesWritten"), counted("others"), msColumn("ms"))
	groups.each(func(a, b *system.FileFacts) int {
		return cmp.Or(cmp.Compare(b.BytesRead+b.BytesWritten, a.BytesRead+a.BytesWritten), cmp.Compare(b.MS, a.MS))
	}, func(k fileKey, f *system.FileFacts) {
		t.add(k.path, k.pid, k.process, whole(f.Opens), whole(f.Reads), whole(f.BytesRead), whole(f.Writes), whole(f.BytesWritten), whole(f.Others), exact(f.MS))
	})
	return t.without(view == "process", "path").without(view == "file", "pid", "process")
}

// A fileKey is what a row is of. What it is not of is empty.
type fileKey struct{ path, pid, process, disk string }

func keyOf(f *system.FileFacts, file, process bool) fileKey {
	var k fileKey
	if file {
		k.path = cmp.Or(f.Path, unknown)
	}
	if process {
		k.pid, k.process = unlessNegative(f.PID), f.Process
	}
	return k
}

// A groupsOf adds up rows by what they are of.
type groupsOf[T any] struct {
	byKey map[fileKey]*T
	order []fileKey
}

func (g *groupsOf[T]) at(k fileKey) *T {
	v := g.byKey[k]
	if v == nil {
		if g.byKey == nil {
			g.byKey = make(map[fileKey]*T)
		}
		v = new(T)
		g.byKey[k] = v
		g.order = append(g.order, k)
	}
	return v
}

// each calls do for all groups, in an order.
func (g *groupsOf[T]) each(compare func(a, b *T) int, do func(fileKey, *T)) {
	slices.SortStableFunc(g.order, func(a, b fileKey) int { return compare(g.byKey[a], g.byKey[b]) })
	for _, k := range g.order {
		do(k, g.byKey[k])
	}
}

// without drops columns if drop is set, and returns t.
func (t *table) without(drop bool, names ...string) *table {
	if drop {
		t.shown(func(c column) bool { return !slices.Contains(names, c.name) })
	}
	return t
}

// newDisks returns the command that shows what disks did.
func newDisks() *cobra.Command {
	return (&question{
		name:  "disks",
		short: "Show what was read from and written to disks, by file",
		long: `Disks shows what was read from and written to disks: for which file, how many times,
how many bytes, and how long the disk took to answer. Requests may wait at the same
time, so that their times add up to more than passed. What had no file is shown as
(unknown): flushes, and what the file system itself reads and writes.

The rows are files, or what --by says: disks, processes, or files by process.`,
		example: `  etw disks machine.etl
  etw disks --by disk machine.etl
  etw disks --by access --process app.exe --format csv machine.etl
  etw disks --format json machine.etl | jq '[.files[].disks[]?.ms] | add'`,
		views:   []string{"file", "disk", "process", "access"},
		missing: "the trace has no events of disks; wpr -start DiskIO, or the kernel flags DiskIO and DiskFileIO, record them",
		ask: func(mux *etw.Mux) answer {
			return &disksAnswer{filesAnswer{machine: newMachine(mux), files: system.FilesOf(mux)}}
		},
	}).command()
}

type disksAnswer struct{ filesAnswer }

func (a *disksAnswer) take() bool {
	a.filesAnswer.take()
	return slices.ContainsFunc(a.res.Files, func(f system.FileFacts) bool { return len(f.Disks) > 0 })
}

func (a *disksAnswer) warnings() []string {
	return a.untold(func(f *system.FileFacts) (n uint64) {
		for i := range f.Disks {
			n += f.Disks[i].Reads + f.Disks[i].Writes
		}
		return n
	})
}

func (a *disksAnswer) totals(p *page) {
	f := a.Facts()
	for _, d := range a.disks() {
		p.title(fmt.Sprintf("disk %d", d.Disk))
		for _, known := range f.Disks {
			if known.Number == d.Disk {
				p.line("model", "%s", known.Model)
			}
		}
		p.line("read", "%s in %s", mb(float64(d.BytesRead)/1e6), count(d.Reads, "request", "requests"))
		p.line("written", "%s in %s", mb(float64(d.BytesWritten)/1e6), count(d.Writes, "request", "requests"))
	}
}

// disks adds up what went to and from each disk.
func (a *disksAnswer) disks() []system.DiskFacts {
	var list []system.DiskFacts
	for i := range a.res.Files {
		for k := range a.res.Files[i].Disks {
			d := &a.res.Files[i].Disks[k]
			n := slices.IndexFunc(list, func(x system.DiskFacts) bool { return x.Disk == d.Disk })
			if n < 0 {
				n = len(list)
				list = append(list, system.DiskFacts{Disk: d.Disk})
			}
			addDisk(&list[n], d)
		}
	}
	slices.SortFunc(list, func(a, b system.DiskFacts) int { return cmp.Compare(a.Disk, b.Disk) })
	return list
}

func addDisk(sum, d *system.DiskFacts) {
	sum.Reads += d.Reads
	sum.BytesRead += d.BytesRead
	sum.Writes += d.Writes
	sum.BytesWritten += d.BytesWritten
	sum.Flushes += d.Flushes
	sum.MS += d.MS
}

func (a *disksAnswer) table(view string, _ *names) *table {
	groups := groupsOf[system.DiskFacts]{}
	byFile, byProcess := view == "file" || view == "access", view == "process" || view == "access"
	for i := range a.res.Files {
		f := &a.res.Files[i]
		for k := range f.Disks {
			key := keyOf(f, byFile, byProcess)
			key.disk = whole(f.Disks[k].Disk)
			addDisk(groups.at(key), &f.Disks[k])
		}
	}
	t := newTable(idColumn("disk"), label("path"), idColumn("pid"), label("process"), counted("reads"), counted("bytesRead"),
		counted("writes"), counted("bytesWritten"), counted("flushes"), msColumn("ms"))
	groups.each(func(a, b *system.DiskFacts) int { return cmp.Compare(b.MS, a.MS) }, func(k fileKey, d *system.DiskFacts) {
		t.add(k.disk, k.path, k.pid, k.process, whole(d.Reads), whole(d.BytesRead), whole(d.Writes), whole(d.BytesWritten), whole(d.Flushes), exact(d.MS))
	})
	return t.without(!byFile, "path").without(!byProcess, "pid", "process")
}
