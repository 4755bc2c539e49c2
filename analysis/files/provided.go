package files

import (
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// watchProvided follows the operations that have manifests. A thread logs its own requests.
// An open file is known by its object, since nothing tells the key yet.
func (a *Analysis) watchProvided(mux *etw.Mux) {
	asked := func(r *etw.Record, kind uint8, key, object, irp etw.Pointer, bytes uint32) error {
		return a.asked(r, teller.Provided, kind, key, object, etw.Pointer(uint32(r.ThreadID)), irp, bytes)
	}
	etw.Handle(mux, func(r *etw.Record, e *file.AnyCreate) error { return asked(r, open, 0, e.FileObject, e.Irp, 0) })
	etw.Handle(mux, func(r *etw.Record, e *file.AnyRead) error {
		return asked(r, read, e.FileKey, e.FileObject, e.Irp, e.IOSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyWrite) error {
		return asked(r, write, e.FileKey, e.FileObject, e.Irp, e.IOSize)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyFlush) error {
		return asked(r, flush, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnySetInformation) error {
		return asked(r, setInfo, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyQueryInformation) error {
		return asked(r, queryInfo, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyDirEnum) error {
		return asked(r, list, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnySetDelete) error {
		return asked(r, remove, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyRename) error {
		return asked(r, rename, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyFSCTL) error {
		return asked(r, control, e.FileKey, e.FileObject, e.Irp, 0)
	})
	etw.Handle(mux, func(r *etw.Record, e *file.AnyOperationEnd) error { return a.ended(r, e.Irp) })
}
