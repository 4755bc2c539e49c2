package main

import (
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// switchesTrace has two threads of a program on one processor, of which one wakes the
// other, with the stacks of where they had stopped, and reads of a file and of a disk.
func switchesTrace() ([]byte, error) {
	k := appLog()
	to := func(ms float64, from, to uint32, state kernel.ThreadState, reason kernel.WaitReason, frames ...etw.Pointer) {
		k.log(ms, -1, -1, 0, &kernel.ThreadCSwitchV4{OldThreadID: from, NewThreadID: to, OldThreadState: state, OldThreadWaitReason: reason})
		if len(frames) > 0 {
			k.stack(ms+0.01, ms, to, frames...)
		}
	}
	const waits, goes = kernel.ThreadStateWaiting, kernel.ThreadStateReady
	to(1, 0, 1000, 0, 0)
	to(2, 1000, 1004, waits, kernel.WaitReasonUserRequest)
	k.log(2.5, 100, 1004, 0, &kernel.FileIoReadV3{IrpPtr: 8, FileKey: 0xa, TTID: 1004, IoSize: 4000})
	k.stack(2.6, 2.5, 1004, app+0x4000)
	k.log(3, 100, 1004, 0, &kernel.DiskIoReadInitV3{Irp: 9, IssuingThreadID: 1004})
	k.stack(3.01, 3, 1004, lib+0x2000, app+0x3000)
	k.log(5, 100, 1004, 0, &kernel.ThreadReadyThreadV2{TThreadID: 1000})
	to(6, 1004, 1000, goes, 0, lib+0x1000, app+0x1000)
	k.log(7, -1, -1, 0, &kernel.DiskIoReadV3{TransferSize: 4096, FileObject: 0xa, Irp: 9, HighResResponseTime: 40000, IssuingThreadID: 1004})
	k.log(7.5, -1, -1, 0, &kernel.FileIoOperationEndV3{IrpPtr: 8})
	to(8, 1000, 1004, waits, kernel.WaitReasonWrQueue, app+0x2000)
	to(9, 1004, 0, waits, kernel.WaitReasonExecutive)
	k.log(9.5, -1, -1, 0, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: etw.MakeUTF16(`\Device\HarddiskVolume2\Apps\data.bin`)})
	if k.err != nil {
		return nil, k.err
	}
	return etltest.File(header(), k.records...)
}

// app and lib are where the images of the program lie.
const app, lib = 0x140000000, 0x180000000

// appLog has a program with two threads, and its images.
func appLog() *kernelLog {
	k := new(kernelLog)
	file := func(base, size etw.Pointer, path string) *kernel.ImageDCStartV3 {
		return &kernel.ImageDCStartV3{ImageBase: base, ImageSize: size, ProcessID: 100, FileName: etw.MakeUTF16(path)}
	}
	k.log(0, -1, -1, 0, &kernel.ProcessDCStartV4{ProcessID: 100, ParentID: 4, ImageFileName: etw.ANSI("app.exe"), CommandLine: etw.MakeUTF16("app.exe")})
	for _, tid := range []uint32{1000, 1004} {
		k.log(0, -1, -1, 0, &kernel.ThreadDCStartV3{ProcessID: 100, TThreadID: tid})
	}
	k.log(0, -1, -1, 0, file(app, 0x8000, `\Device\HarddiskVolume2\Apps\app.exe`))
	k.log(0, -1, -1, 0, file(lib, 0x8000, `\Device\HarddiskVolume2\Apps\lib.dll`))
	k.log(0, -1, -1, 0, &kernel.SysConfigVolumeMappingV0{NtPath: etw.MakeUTF16(`\Device\HarddiskVolume2\`), DosPath: etw.MakeUTF16(`C:\`)})
	return k
}

// outstandingTrace has the program commit memory, open handles, and use keys of the registry, and
// give some of it back.
func outstandingTrace() ([]byte, error) {
	k := appLog()
	from := func(ms float64, e etw.Event, frames ...etw.Pointer) {
		k.log(ms, 100, 1000, 0, e)
		k.stack(ms+0.01, ms, 1000, frames...)
	}
	virtual := func(base, size etw.Pointer, flags kernel.VirtualAllocFlags) kernel.PageFaultVirtualAllocV2 {
		return kernel.PageFaultVirtualAllocV2{BaseAddress: base, RegionSize: size, ProcessID: 100, Flags: flags}
	}
	big, small := virtual(0x10000, 3_000_000, 0x1000), virtual(0x800000, 500_000, 0x3000)
	part := virtual(0x10000, 1_000_000, 0x4000)
	from(1, &big, lib+0x1000, app+0x1000)
	from(2, &small, app+0x2000)
	from(3, (*kernel.PageFaultVirtualFreeV2)(&part), lib+0x3000)
	from(4, &kernel.ObjectCreateHandleV2{Handle: 8, ObjectType: 7}, app+0x3000)
	from(5, &kernel.ObjectCreateHandleV2{Handle: 12, ObjectType: 7}, app+0x3000)
	from(6, &kernel.ObjectCloseHandleV2{Handle: 12}, app+0x4000)
	key := func(ms, took float64, block etw.Pointer, name string, status uint32) kernel.RegistryOpenV2 {
		return kernel.RegistryOpenV2{InitialTime: at(ms-took, etw.Record{}).Timestamp, KeyHandle: block, KeyName: etw.MakeUTF16(name), Status: status}
	}
	open, value := key(7, 0.5, 0xa, `Shop\Oven`, 0xc0000034), key(8, 0.25, 0xb, "Heat", 0)
	from(7, &open, app+0x5000)
	from(8, (*kernel.RegistryQueryValueV2)(&value), app+0x5000)
	machine, own := key(9, 0, 0xa, `\REGISTRY\MACHINE\SOFTWARE`, 0), key(9, 0, 0xb, `\REGISTRY\USER\S-1-5-18\Shop`, 0)
	k.log(9, -1, -1, 0, (*kernel.RegistryKCBRundownEndV2)(&machine))
	k.log(9, -1, -1, 0, (*kernel.RegistryKCBRundownEndV2)(&own))
	k.log(9, -1, -1, 0, &kernel.ObjectTypeDCEndV2{ObjectType: 7, TypeName: etw.MakeUTF16("Event")})
	if k.err != nil {
		return nil, k.err
	}
	return etltest.File(header(), k.records...)
}
