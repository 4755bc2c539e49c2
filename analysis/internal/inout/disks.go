package inout

import (
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Issuer is the thread that asked, as events of the kernel have it: old ones do not.
type Issuer struct {
	Told   bool
	Thread uint32 // all ones if it is not known
}

// An Answer is that of a disk to a request.
type Answer struct {
	Kind        Kind
	IRP, Key    etw.Pointer // of the request and of the file
	Disk, Bytes uint32
	Ticks       uint64 // since it was asked
	Issuer
}

// WatchDisks registers handlers at a mux that tell when a disk is asked, which the kernel alone
// does, and when it has answered, each once.
func WatchDisks(mux *etw.Mux, asked func(r *etw.Record, kind Kind, irp etw.Pointer, by Issuer), answered func(*etw.Record, Answer)) {
	hear.On(mux, func(r *etw.Record, e *kernel.AnyDiskIoReadInit) {
		asked(r, Read, e.Irp, Issuer{e.HasIssuingThreadID(), e.IssuingThreadID})
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyDiskIoWriteInit) {
		asked(r, Write, e.Irp, Issuer{e.HasIssuingThreadID(), e.IssuingThreadID})
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushInit) {
		asked(r, Flush, e.Irp, Issuer{e.HasIssuingThreadID(), e.IssuingThreadID})
	})
	var told teller.Union
	tell := func(who teller.Teller, r *etw.Record, a Answer) {
		if told.Hears(who, r, teller.Key(uint64(a.Kind), uint64(a.IRP), uint64(a.Disk), uint64(a.Bytes))) {
			answered(r, a)
		}
	}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyDiskIoRead) {
		tell(teller.Classic, r, Answer{Read, e.Irp, e.FileObject, e.DiskNumber, e.TransferSize, e.HighResResponseTime, Issuer{e.HasIssuingThreadID(), e.IssuingThreadID}})
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyDiskIoWrite) {
		tell(teller.Classic, r, Answer{Write, e.Irp, e.FileObject, e.DiskNumber, e.TransferSize, e.HighResResponseTime, Issuer{e.HasIssuingThreadID(), e.IssuingThreadID}})
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyDiskIoFlushBuffers) {
		tell(teller.Classic, r, Answer{Flush, e.Irp, 0, e.DiskNumber, 0, e.HighResResponseTime, Issuer{e.HasIssuingThreadID(), e.IssuingThreadID}})
	})
	hear.On(mux, func(r *etw.Record, e *disk.AnyRead) {
		tell(teller.Provided, r, Answer{Read, e.IORequestPacket, e.FileObject, e.DiskNumber, e.TransferSize, e.HighResResponseTime, Issuer{}})
	})
	hear.On(mux, func(r *etw.Record, e *disk.AnyWrite) {
		tell(teller.Provided, r, Answer{Write, e.IORequestPacket, e.FileObject, e.DiskNumber, e.TransferSize, e.HighResResponseTime, Issuer{}})
	})
	hear.On(mux, func(r *etw.Record, e *disk.AnyFlush) {
		tell(teller.Provided, r, Answer{Flush, e.IORequestPacket, 0, e.DiskNumber, 0, e.HighResResponseTime, Issuer{}})
	})
}
