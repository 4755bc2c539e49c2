package system

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/busy"
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Files adds up the use of files by the threads of a [Machine]: their requests to the file
// system, and the transfers to and from disks.
type Files struct {
	machine *Machine
	keys    map[uint64]*File // what the kernel's keys of files stand for now
	objects map[uint64]*File // what open files are
	rows    map[use]*FileUse
	order   []*FileUse
	flights map[uint64]flight      // operations that have not ended, by the request
	issuers map[uint64]*Thread     // of requests to disks, by the request
	queues  map[uint32]*busy.Queue // of disks
	from    [kinds]teller.Teller
	ignored FileUse
}

// The counts, each by the teller that comes first.
const (
	forOpens = iota
	forReads
	forWrites
	forOthers
	forDisks
	kinds
)

// A File is a file of which something was done.
type File struct {
	// Path is as the trace has it, and empty if it does not tell: [Machine.Path] returns the
	// usual form.
	Path string

	closed bool // its key is another file's from now on
}

// A FileUse is the use of a file by a thread. An operation that is about no file, such as
// the flush of a disk, has a File of nil.
type FileUse struct {
	File   *File
	Thread *Thread // nil if it is not known
	// Opens to Others count requests to the file system; BytesRead and BytesWritten are the
	// bytes requested.
	Opens, Reads, Writes, Others uint64
	BytesRead, BytesWritten      uint64
	// OnDisk is the transfers to and from disks, by disk.
	OnDisk []DiskUse

	ticks int64 // of operations on the file
}

// DiskUse is the transfers to and from a disk.
type DiskUse struct {
	Disk                    uint32
	Reads, Writes, Flushes  uint64
	BytesRead, BytesWritten uint64

	ticks  uint64 // between request and answer
	served int64  // of these, while no request before it was
}

type use struct {
	file   *File
	thread *Thread
}

// A flight is an operation on a file that has begun.
type flight struct {
	use   *FileUse
	begun int64
}

// FilesOf returns the files that all handlers of a mux share, as [Of] does the machine.
func FilesOf(mux *etw.Mux) *Files { return etw.Shared(mux, beginFiles) }

func beginFiles(mux *etw.Mux) *Files {
	f := &Files{
		machine: Of(mux), keys: make(map[uint64]*File), objects: make(map[uint64]*File), rows: make(map[use]*FileUse),
		flights: make(map[uint64]flight), issuers: make(map[uint64]*Thread), queues: make(map[uint32]*busy.Queue),
	}
	f.watchNames(mux)
	f.watchDisks(mux)
	f.watchOperations(mux)
	f.watchProvided(mux)
	return f
}

// watchNames follows the files that keys stand for. A file that was open before the
// recording is named by the list at its end, so that its key may be met before its name.
func (f *Files) watchNames(mux *etw.Mux) {
	etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyFileIoName) error { return f.name(uint64(e.FileObject), e.FileName) })
	etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyFileIoFileCreate) error {
		return f.name(uint64(e.FileObject), e.FileName)
	})
	etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyFileIoFileRundown) error {
		return f.name(uint64(e.FileObject), e.FileName)
	})
	etw.Handle(mux, func(_ *etw.Record, e *kernel.AnyFileIoFileDelete) error {
		f.name(uint64(e.FileObject), e.FileName)
		f.keys[uint64(e.FileObject)].closed = true
		return nil
	})
}

// name names the file of a key.
func (f *Files) name(key uint64, path etw.UTF16) error {
	file := f.keys[key]
	if file == nil || file.closed || file.Path != "" && !path.EqualString(file.Path) {
		file = new(File)
		f.keys[key] = file
	}
	if file.Path == "" {
		file.Path = path.String()
	}
	return nil
}

// byKey returns the file that a key stands for now. 0 is no file.
func (f *Files) byKey(key uint64) *File {
	if key == 0 {
		return nil
	}
	file := f.keys[key]
	if file == nil || file.closed {
		file = new(File)
		f.keys[key] = file
	}
	return file
}

// ByKey returns the file that a key of the kernel stands for now, or nil for 0. Its path
// may be told later.
func (f *Files) ByKey(key uint64) *File { return f.byKey(key) }

// Opened returns the file that an operation of the file system is about, by its key and
// by the object that it was opened as, or nil if neither is one. Its path may be told
// later.
func (f *Files) Opened(key, object uint64) *File {
	return f.opened(etw.Pointer(key), etw.Pointer(object))
}

// use returns the use of a file by a thread.
func (f *Files) use(file *File, thread *Thread) *FileUse {
	k := use{file, thread}
	u := f.rows[k]
	if u == nil {
		u = &FileUse{File: file, Thread: thread}
		f.rows[k] = u
		f.order = append(f.order, u)
	}
	return u
}

func (u *FileUse) disk(number uint32) *DiskUse {
	for i := range u.OnDisk {
		if u.OnDisk[i].Disk == number {
			return &u.OnDisk[i]
		}
	}
	u.OnDisk = append(u.OnDisk, DiskUse{Disk: number})
	return &u.OnDisk[len(u.OnDisk)-1]
}

// thread returns a thread by an id, which all ones stand in for if there is none.
func (f *Files) thread(tid uint64, r *etw.Record) *Thread {
	if uint32(tid) == noID {
		return nil
	}
	return f.machine.HasThread(int64(uint32(tid)), idle(uint32(tid), r))
}

// watchDisks adds up the transfers of disks. Old versions do not tell which thread asked for
// it: the event of the request does.
func (f *Files) watchDisks(mux *etw.Mux) {
	asked := func(r *etw.Record, irp etw.Pointer) error {
		if r.ThreadID >= 0 {
			f.issuers[uint64(irp)] = f.machine.HasThread(r.ThreadID, r.ProcessID)
		}
		return nil
	}
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoReadInit) error { return asked(r, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoWriteInit) error { return asked(r, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushInit) error { return asked(r, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoRead) error {
		return f.answered(r, teller.Classic, e.HasIssuingThreadID(), e.IssuingThreadID, e.Irp, e.FileObject, e.DiskNumber, e.HighResResponseTime).read(e.TransferSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoWrite) error {
		return f.answered(r, teller.Classic, e.HasIssuingThreadID(), e.IssuingThreadID, e.Irp, e.FileObject, e.DiskNumber, e.HighResResponseTime).write(e.TransferSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushBuffers) error {
		return count(&f.answered(r, teller.Classic, e.HasIssuingThreadID(), e.IssuingThreadID, e.Irp, 0, e.DiskNumber, e.HighResResponseTime).Flushes)
	})
}

// answered returns where the answer of a disk counts.
func (f *Files) answered(r *etw.Record, who teller.Teller, has bool, tid uint32, irp, key etw.Pointer, disk uint32, ticks uint64) *DiskUse {
	f.machine.at(r)
	if !f.from[forDisks].Hears(who) {
		return new(DiskUse)
	}
	thread := f.issuers[uint64(irp)]
	delete(f.issuers, uint64(irp))
	if has {
		thread = f.thread(uint64(tid), r)
	}
	d := f.use(f.byKey(uint64(key)), thread).disk(disk)
	if !f.machine.tooLong(ticks) {
		d.ticks += ticks
		if f.queues[disk] == nil {
			f.queues[disk] = new(busy.Queue)
		}
		d.served += f.queues[disk].Serve(r.Timestamp-int64(ticks), r.Timestamp)
	}
	return d
}

// watchOperations adds up the requests to the file system.
func (f *Files) watchOperations(mux *etw.Mux) {
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoCreate) error {
		return f.create(r, teller.Classic, e.FileObject, e.OpenPath, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoRead) error {
		return f.asked(r, teller.Classic, forReads, f.opened(e.FileKey, e.FileObject), e.TTID, e.IrpPtr).read(e.IoSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoWrite) error {
		return f.asked(r, teller.Classic, forWrites, f.opened(e.FileKey, e.FileObject), e.TTID, e.IrpPtr).write(e.IoSize)
	})
	other := func(r *etw.Record, key, object, thread, irp etw.Pointer) error {
		return count(&f.asked(r, teller.Classic, forOthers, f.opened(key, object), thread, irp).Others)
	}
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoFlush) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoSetInfo) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoQueryInfo) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoDirEnum) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoDelete) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoRename) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoFSControl) error {
		return other(r, e.FileKey, e.FileObject, e.TTID, e.IrpPtr)
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoClose) error {
		delete(f.objects, uint64(e.FileObject))
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *kernel.AnyFileIoOperationEnd) error { return f.ended(r, e.IrpPtr) })
}

// ended takes that an operation ends.
func (f *Files) ended(r *etw.Record, irp etw.Pointer) error {
	if o, ok := f.flights[uint64(irp)]; ok {
		delete(f.flights, uint64(irp))
		if d := f.machine.at(r) - o.begun; d > 0 {
			o.use.ticks += d
		}
	}
	return nil
}

// create takes that a file is to be opened.
func (f *Files) create(r *etw.Record, who teller.Teller, object etw.Pointer, path etw.UTF16, thread, irp etw.Pointer) error {
	if !f.from[forOpens].Hears(who) {
		return nil
	}
	file := &File{Path: path.String()}
	f.objects[uint64(object)] = file
	f.asked(r, who, forOpens, file, thread, irp).Opens++
	return nil
}

func (u *FileUse) read(bytes uint32) error {
	u.Reads++
	u.BytesRead += uint64(bytes)
	return nil
}

func (u *FileUse) write(bytes uint32) error {
	u.Writes++
	u.BytesWritten += uint64(bytes)
	return nil
}

func (d *DiskUse) read(bytes uint32) error {
	d.Reads++
	d.BytesRead += uint64(bytes)
	return nil
}

func (d *DiskUse) write(bytes uint32) error {
	d.Writes++
	d.BytesWritten += uint64(bytes)
	return nil
}

// opened returns the file of an operation. Its key decides; where nothing names
// that, the path does by which the file was opened.
func (f *Files) opened(key, object etw.Pointer) *File {
	file := f.byKey(uint64(key))
	if o := f.objects[uint64(object)]; o != nil && o != file {
		switch {
		case file == nil:
			return o
		case file.Path == "":
			file.Path = o.Path
		}
	}
	return file
}

// asked returns where an operation counts that begins now.
func (f *Files) asked(r *etw.Record, who teller.Teller, kind int, file *File, thread, irp etw.Pointer) *FileUse {
	if !f.from[kind].Hears(who) {
		return &f.ignored
	}
	u := f.use(file, f.thread(uint64(thread), r))
	f.flights[uint64(irp)] = flight{u, f.machine.at(r)}
	return u
}

// All returns the use of each file by each thread, in the order in which it began.
func (f *Files) All() []*FileUse { return f.order }

// MS returns the time that the operations of u took on the file system, one after
// another.
func (f *Files) MS(u *FileUse) float64 { return f.machine.ms(float64(u.ticks)) }

// DiskMS returns the time between the requests to a disk and its answers, one after
// another.
func (f *Files) DiskMS(d *DiskUse) float64 { return f.machine.ms(float64(d.ticks)) }

// ServedMS returns of these times those in which the disk served the requests: each from when
// it was asked, or the one that the disk answered before, whichever came later.
func (f *Files) ServedMS(d *DiskUse) float64 { return f.machine.ms(float64(d.served)) }

// Disks returns the numbers of the disks that were used.
func (f *Files) Disks() []uint32 {
	var list []uint32
	for _, u := range f.order {
		for i := range u.OnDisk {
			if !slices.Contains(list, u.OnDisk[i].Disk) {
				list = append(list, u.OnDisk[i].Disk)
			}
		}
	}
	order.Sort(list, cmp.Compare)
	return list
}
