// Package inout tells of requests to the file system and to disks, as the kernel of Windows logs
// them, and as its providers with manifests do.
package inout

import (
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Kind is that of a request.
type Kind uint8

// The kinds. Disks have Read, Write and Flush.
const (
	Open Kind = iota
	Read
	Write
	Flush
	SetInfo
	QueryInfo
	List
	Delete
	Rename
	Control
	Cleanup // the last handle is closed
	Close
)

func (k Kind) String() string {
	return [...]string{"open", "read", "write", "flush", "set info", "query info", "list", "delete", "rename", "control", "cleanup", "close"}[k]
}

// A Request is one to the file system that begins.
type Request struct {
	Kind        Kind
	Key, Object etw.Pointer // of the file; nothing tells the key of one that is opened
	Path        etw.UTF16   // of one that is opened
	Thread      uint32      // all ones if it is not known
	IRP         etw.Pointer // it is the request's until it ends
	Bytes       uint32
}

// A fileListener is told of each request once.
type fileListener struct {
	begins func(*etw.Record, Request)
	told   teller.Union
}

func (l *fileListener) hears(who teller.Teller, r *etw.Record, q Request) {
	if l.told.Hears(who, r, teller.Key(uint64(q.Kind), uint64(q.IRP), uint64(q.Object), uint64(q.Bytes))) {
		l.begins(r, q)
	}
}

// WatchFiles registers handlers at a mux that tell when a request begins and when one ends.
func WatchFiles(mux *etw.Mux, begins func(*etw.Record, Request), ends func(r *etw.Record, irp etw.Pointer)) {
	l := &fileListener{begins: begins}
	l.watchKernel(mux)
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoOperationEnd) { ends(r, e.IrpPtr) })
	l.watchProvider(mux)
	hear.On(mux, func(r *etw.Record, e *file.AnyOperationEnd) { ends(r, e.Irp) })
}

func (l *fileListener) watchKernel(mux *etw.Mux) {
	tell := func(r *etw.Record, kind Kind, key, object, thread, irp etw.Pointer, bytes uint32) {
		l.hears(teller.Classic, r, Request{Kind: kind, Key: key, Object: object, Thread: uint32(thread), IRP: irp, Bytes: bytes})
	}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoCreate) {
		l.hears(teller.Classic, r, Request{Kind: Open, Object: e.FileObject, Path: e.OpenPath, Thread: uint32(e.TTID), IRP: e.IrpPtr})
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoRead) {
		tell(r, Read, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, e.IoSize)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoWrite) {
		tell(r, Write, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, e.IoSize)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoFlush) {
		tell(r, Flush, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoSetInfo) {
		tell(r, SetInfo, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoQueryInfo) {
		tell(r, QueryInfo, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoDirEnum) {
		tell(r, List, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoDelete) {
		tell(r, Delete, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoRename) {
		tell(r, Rename, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoFSControl) {
		tell(r, Control, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoCleanup) {
		tell(r, Cleanup, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyFileIoClose) {
		tell(r, Close, e.FileKey, e.FileObject, e.TTID, e.IrpPtr, 0)
	})
}

// watchProvider has the events with manifests. A thread logs its own requests.
func (l *fileListener) watchProvider(mux *etw.Mux) {
	tell := func(r *etw.Record, kind Kind, key, object, irp etw.Pointer, bytes uint32) {
		l.hears(teller.Provided, r, Request{Kind: kind, Key: key, Object: object, Thread: uint32(r.ThreadID), IRP: irp, Bytes: bytes})
	}
	hear.On(mux, func(r *etw.Record, e *file.AnyCreate) {
		l.hears(teller.Provided, r, Request{Kind: Open, Object: e.FileObject, Path: e.FileName, Thread: uint32(r.ThreadID), IRP: e.Irp})
	})
	hear.On(mux, func(r *etw.Record, e *file.AnyRead) { tell(r, Read, e.FileKey, e.FileObject, e.Irp, e.IOSize) })
	hear.On(mux, func(r *etw.Record, e *file.AnyWrite) { tell(r, Write, e.FileKey, e.FileObject, e.Irp, e.IOSize) })
	hear.On(mux, func(r *etw.Record, e *file.AnyFlush) { tell(r, Flush, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnySetInformation) { tell(r, SetInfo, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnyQueryInformation) {
		tell(r, QueryInfo, e.FileKey, e.FileObject, e.Irp, 0)
	})
	hear.On(mux, func(r *etw.Record, e *file.AnyDirEnum) { tell(r, List, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnySetDelete) { tell(r, Delete, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnyRename) { tell(r, Rename, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnyFSCTL) { tell(r, Control, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnyCleanup) { tell(r, Cleanup, e.FileKey, e.FileObject, e.Irp, 0) })
	hear.On(mux, func(r *etw.Record, e *file.AnyClose) { tell(r, Close, e.FileKey, e.FileObject, e.Irp, 0) })
}
