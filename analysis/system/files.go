package system

import (
	"cmp"
	"slices"

	"github.com/etwgen/etwgen/analysis/internal/busy"
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/inout"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Files adds up the use of files by the threads of a [Machine]: their requests to the file
// system, and the transfers to and from disks. Of a [window.Window] those count that have a part
// in it, with all their bytes and the part of their time.
type Files struct {
	machine *Machine
	window  *window.Window
	keys    map[etw.Pointer]*File // what the kernel's keys of files stand for now
	objects map[etw.Pointer]*File // what open files are
	rows    map[use]*FileUse
	order   []*FileUse
	flights map[etw.Pointer]flight // operations that have not ended, by the request
	asking  map[etw.Pointer]asking // requests to disks without an answer so far, by the request
	queues  map[uint32]*busy.Queue // of disks
	any     FileUse                // requests of whatever time
}

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

	ticks  int64 // between request and answer
	served int64 // of these, while no request before it was
}

type use struct {
	file   *File
	thread *Thread
}

// A flight is an operation on a file that has begun.
type flight struct {
	use
	inout.Request
	begun   int64
	counted bool
}

// FilesOf returns the files that all handlers of a mux share, as [Of] does the machine.
func FilesOf(mux *etw.Mux) *Files { return etw.Shared(mux, beginFiles) }

func beginFiles(mux *etw.Mux) *Files {
	f := &Files{
		machine: Of(mux), window: window.Of(mux), keys: make(map[etw.Pointer]*File), objects: make(map[etw.Pointer]*File), rows: make(map[use]*FileUse),
		flights: make(map[etw.Pointer]flight), asking: make(map[etw.Pointer]asking), queues: make(map[uint32]*busy.Queue),
	}
	inout.WatchDisks(mux, f.diskAsked, f.answered)
	inout.WatchFiles(mux, f.asked, f.ended)
	f.watchNames(mux) // and so the close of a file is of that file
	return f
}

// watchNames follows the files that keys stand for. A file that was open before the
// recording is named by the list at its end, so that its key may be met before its name.
func (f *Files) watchNames(mux *etw.Mux) {
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyFileIoName) { f.name(e.FileObject, e.FileName) })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyFileIoFileCreate) { f.name(e.FileObject, e.FileName) })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyFileIoFileRundown) { f.name(e.FileObject, e.FileName) })
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyFileIoFileDelete) {
		f.name(e.FileObject, e.FileName)
		f.keys[e.FileObject].closed = true
	})
	hear.On(mux, func(_ *etw.Record, e *file.AnyNameCreate) { f.name(e.FileKey, e.FileName) })
	hear.On(mux, func(_ *etw.Record, e *file.AnyNameDelete) {
		f.name(e.FileKey, e.FileName)
		f.keys[e.FileKey].closed = true
	})
	hear.On(mux, func(_ *etw.Record, e *kernel.AnyFileIoClose) { delete(f.objects, e.FileObject) })
	hear.On(mux, func(_ *etw.Record, e *file.AnyClose) { delete(f.objects, e.FileObject) })
}

// name names the file of a key.
func (f *Files) name(key etw.Pointer, path etw.UTF16) {
	file := f.keys[key]
	if file == nil || file.closed || file.Path != "" && !path.EqualString(file.Path) {
		file = new(File)
		f.keys[key] = file
	}
	if file.Path == "" {
		file.Path = path.String()
	}
}

// ByKey returns the file that a key of the kernel stands for now, or nil for 0. Its path
// may be told later.
func (f *Files) ByKey(key etw.Pointer) *File {
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

// answered adds up a transfer of a disk.
func (f *Files) answered(r *etw.Record, a inout.Answer) {
	f.machine.at(r)
	thread := f.asking[a.IRP].thread
	delete(f.asking, a.IRP)
	begun, file, w, served := r.Timestamp, f.ByKey(a.Key), f.window.Ticks(r.Clock), int64(0)
	told := !f.machine.tooLong(a.Ticks)
	if told {
		begun -= int64(a.Ticks)
	}
	if a.Told && (thread == nil || thread.TID != int64(a.Thread)) {
		thread = f.machine.AskerAt(r, int64(a.Thread), begun)
	}
	if told {
		if f.queues[a.Disk] == nil {
			f.queues[a.Disk] = &busy.Queue{Window: w}
		}
		served = f.queues[a.Disk].Serve(begun, r.Timestamp)
	}
	if !w.Meets(begun, r.Timestamp) {
		return
	}
	d := f.use(file, thread).disk(a.Disk)
	from, to := w.Clip(begun, r.Timestamp)
	d.ticks += to - from
	d.served += served
	switch a.Kind {
	case inout.Read:
		d.Reads++
		d.BytesRead += uint64(a.Bytes)
	case inout.Write:
		d.Writes++
		d.BytesWritten += uint64(a.Bytes)
	default:
		d.Flushes++
	}
}

// asked adds up an operation that begins now.
func (f *Files) asked(r *etw.Record, q inout.Request) {
	if q.Kind == inout.Open {
		f.objects[q.Object] = &File{Path: q.Path.String()}
	}
	f.any.count(&q)
	x := flight{use{f.Opened(q.Key, q.Object), f.machine.Asker(r, int64(q.Thread))}, q, f.machine.at(r), false}
	w := f.window.Ticks(f.machine.clock)
	if x.counted = w.Has(x.begun); x.counted {
		f.use(x.file, x.thread).count(&q)
	}
	x.Path = nil // which may be long
	f.flights[q.IRP] = x
}

// count counts a request.
func (u *FileUse) count(q *inout.Request) {
	switch q.Kind {
	case inout.Open:
		u.Opens++
	case inout.Read:
		u.Reads++
		u.BytesRead += uint64(q.Bytes)
	case inout.Write:
		u.Writes++
		u.BytesWritten += uint64(q.Bytes)
	default:
		u.Others++
	}
}

// ended takes that an operation ends.
func (f *Files) ended(r *etw.Record, irp etw.Pointer) {
	x, ok := f.flights[irp]
	if !ok {
		return
	}
	delete(f.flights, irp)
	at := f.machine.at(r)
	f.any.ticks += max(at-x.begun, 0)
	w := f.window.Ticks(f.machine.clock)
	if !x.counted && !w.Meets(x.begun, at) {
		return
	}
	u := f.use(x.file, x.thread)
	if !x.counted {
		u.count(&x.Request)
	}
	from, to := w.Clip(x.begun, at)
	u.ticks += to - from
}

// Opened returns the file that an operation of the file system is about, or nil if it is about
// none. Its key decides; where nothing names that, the path does by which it was opened as an
// object. Its path may be told later.
func (f *Files) Opened(key, object etw.Pointer) *File {
	file := f.ByKey(key)
	if o := f.objects[object]; o != nil && o != file {
		switch {
		case file == nil:
			return o
		case file.Path == "":
			file.Path = o.Path
		}
	}
	return file
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
