package system

import (
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// watchProvided adds up the events of files and disks that have manifests. A thread logs its
// own requests.
func (f *Files) watchProvided(mux *etw.Mux) {
	etw.Handle(mux, func(_ *etw.Record, e *file.AnyNameCreate) error { return f.name(uint64(e.FileKey), e.FileName) })
	etw.Handle(mux, func(_ *etw.Record, e *file.AnyNameDelete) error {
		f.name(uint64(e.FileKey), e.FileName)
		f.keys[uint64(e.FileKey)].closed = true
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyCreate) error {
		return f.create(r, teller.Provided, e.FileObject, e.FileName, etw.Pointer(r.ThreadID), e.Irp)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyRead) error {
		return f.asked(r, teller.Provided, forReads, f.opened(e.FileKey, e.FileObject), etw.Pointer(r.ThreadID), e.Irp).read(e.IOSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyWrite) error {
		return f.asked(r, teller.Provided, forWrites, f.opened(e.FileKey, e.FileObject), etw.Pointer(r.ThreadID), e.Irp).write(e.IOSize)
	})
	other := func(r *etw.Record, key, object, irp etw.Pointer) error {
		return count(&f.asked(r, teller.Provided, forOthers, f.opened(key, object), etw.Pointer(r.ThreadID), irp).Others)
	}
	etw.Handle(mux, func(r *etw.Record, e *file.AnyFlush) error { return other(r, e.FileKey, e.FileObject, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *file.AnySetInformation) error { return other(r, e.FileKey, e.FileObject, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *file.AnyQueryInformation) error {
		return other(r, e.FileKey, e.FileObject, e.Irp)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyDirEnum) error { return other(r, e.FileKey, e.FileObject, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *file.AnySetDelete) error { return other(r, e.FileKey, e.FileObject, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *file.AnyRename) error { return other(r, e.FileKey, e.FileObject, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *file.AnyFSCTL) error { return other(r, e.FileKey, e.FileObject, e.Irp) })
	etw.Handle(mux, func(_ *etw.Record, e *file.AnyClose) error {
		delete(f.objects, uint64(e.FileObject))
		return nil
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyOperationEnd) error { return f.ended(r, e.Irp) })
	etw.Handle(mux, func(r *etw.Record, e *disk.AnyRead) error {
		return f.answered(r, teller.Provided, false, 0, e.IORequestPacket, e.FileObject, e.DiskNumber, e.HighResResponseTime).read(e.TransferSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *disk.AnyWrite) error {
		return f.answered(r, teller.Provided, false, 0, e.IORequestPacket, e.FileObject, e.DiskNumber, e.HighResResponseTime).write(e.TransferSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *disk.AnyFlush) error {
		return count(&f.answered(r, teller.Provided, false, 0, e.IORequestPacket, 0, e.DiskNumber, e.HighResResponseTime).Flushes)
	})
}
