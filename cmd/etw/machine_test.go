package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A kernelLog makes records of the kernel.
type kernelLog struct {
	records []*etw.Record
	err     error
}

// log adds an event. Texts of fixed size are filled up.
func (k *kernelLog) log(ms float64, pid, tid int64, cpu int32, e etw.Event) {
	d, v := e.EventDesc(), reflect.ValueOf(e).Elem()
	for _, f := range d.Fields {
		if f.Type == etw.InUnicodeString && f.Length.Kind == etw.SizeConst {
			text := v.FieldByName(f.Name)
			text.SetBytes(append(text.Bytes(), make([]byte, 2*int(f.Length.N)-text.Len())...))
		}
	}
	p, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		k.err = err
	}
	r := etw.Record{Kind: d.Kind, Provider: d.Class, ID: d.ID, Opcode: d.Opcode, Version: d.Version, ProcessID: pid, ThreadID: tid, Processor: cpu, Payload: p}
	if d.Kind == etw.KindManifest {
		r.Provider = d.Provider.GUID
	}
	k.records = append(k.records, at(ms, r))
}

// stack adds a half of the stack of the event of a thread at a time.
func (k *kernelLog) stack(ms, of float64, thread uint32, addresses ...etw.Pointer) {
	frames, err := etw.MakePointers(etw.Ptr64, addresses...)
	if err != nil {
		k.err = err
	}
	k.log(ms, -1, -1, 0, &kernel.StackWalkStackV2{EventTimeStamp: uint64(at(of, etw.Record{}).Timestamp), StackThread: thread, Stack: frames})
}

// keyedTrace has samples whose call stacks are compressed: of the first all of it is
// in the trace, of the second one half, and of the third none. One half is of no event.
func keyedTrace() ([]byte, error) {
	var k kernelLog
	for n := 1.0; n <= 3; n++ {
		at := uint64(at(n, etw.Record{}).Timestamp)
		key := etw.Pointer(n) << 8
		k.log(n, -1, -1, 0, &kernel.PerfInfoSampleV2{ThreadID: 1000, InstructionPointer: 0xfffff80000000000 + 0x1000*etw.Pointer(n), Count: 1})
		k.log(n, -1, -1, 0, &kernel.StackWalkStackKeyKernelV2{EventTimeStamp: at, StackProcess: 100, StackThread: 1000, StackKey: key})
		k.log(n, -1, -1, 0, &kernel.StackWalkStackKeyUserV2{EventTimeStamp: at, StackProcess: 100, StackThread: 1000, StackKey: key + 1})
	}
	for key, frame := range map[etw.Pointer]etw.Pointer{0x100: 0xfffff80000001000, 0x101: 0x140001000, 0x200: 0xfffff80000002000} {
		frames, err := etw.MakePointers(etw.Ptr64, frame)
		if err != nil {
			return nil, err
		}
		k.log(4, -1, -1, 0, &kernel.StackWalkKeyRundownV2{Key: key, StackFrame: frames})
	}
	if k.err != nil {
		return nil, k.err
	}
	slices.SortStableFunc(k.records[9:], func(a, b *etw.Record) int { return slices.Compare(a.Payload, b.Payload) })
	// A half of a stack of no event.
	k.log(4.2, -1, -1, 0, &kernel.StackWalkStackKeyKernelV2{EventTimeStamp: uint64(at(2.5, etw.Record{}).Timestamp), StackProcess: 100, StackThread: 1000, StackKey: 0x100})
	// The end tells the name of the process; that of the number 200 is another one before it
	// starts.
	sid := etw.TokenUser{User: 1, SID: etw.SID{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}}
	k.log(4.5, 200, 1, 0, &kernel.PerfInfoMarkV0{})
	k.log(5, 100, 1000, 0, &kernel.ProcessStartV4{ProcessID: 200, ParentID: 100, UserSID: sid, ImageFileName: etw.ANSI("new.exe")})
	k.log(5.5, 200, 1, 0, &kernel.PerfInfoMarkV0{})
	k.log(6, -1, -1, 0, &kernel.ProcessDCStopV4{ProcessID: 100, UserSID: sid, ImageFileName: etw.ANSI("late.exe")})
	if k.err != nil {
		return nil, k.err
	}
	return etltest.File(header(), k.records...)
}

// machineTrace has the events of the kernel of a machine with a service and a program that
// starts another one, reads a file, touches one, opens a key of the registry and sends something.
func machineTrace() ([]byte, error) {
	var k kernelLog
	text, name := etw.MakeUTF16, func(s string) etw.ANSI { return etw.ANSI(s) }
	user := etw.TokenUser{User: 1, SID: etw.SID{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}}
	process := func(pid, parent etw.Pointer, file, line string) kernel.ProcessDCStartV4 {
		return kernel.ProcessDCStartV4{UniqueProcessKey: 0x1000 + pid, ProcessID: uint32(pid), ParentID: uint32(parent), UserSID: user, ImageFileName: name(file), CommandLine: text(line)}
	}
	system4, app, child := process(4, 0, "System", ""), process(100, 4, "app.exe", `"C:\Apps\app.exe" --all`), process(104, 100, "child.exe", "child.exe")
	k.log(0, -1, -1, 0, &system4)
	k.log(0, -1, -1, 0, &app)
	for tid, pid := range map[uint32]uint32{0: 0, 12: 4, 1000: 100} {
		k.log(0, -1, -1, 0, &kernel.ThreadDCStartV3{ProcessID: pid, TThreadID: tid})
	}
	k.log(0, -1, -1, 0, &kernel.ImageDCStartV3{ImageBase: 0xfffff80000000000, ImageSize: 0x800000, FileName: text(`\SystemRoot\system32\ntoskrnl.exe`)})
	k.log(0, -1, -1, 0, &kernel.ImageDCStartV3{ImageBase: 0x140000000, ImageSize: 0x8000, ProcessID: 100, FileName: text(`\Device\HarddiskVolume2\Apps\app.exe`)})
	k.log(0, -1, -1, 0, &kernel.SysConfigVolumeMappingV0{NtPath: text(`\Device\HarddiskVolume2\`), DosPath: text(`C:\`)})
	k.log(0, -1, -1, 0, &kernel.SysConfigVolumeMappingV0{NtPath: text(`\SystemRoot\`), DosPath: text(`C:\Windows\`)})
	k.log(0, -1, -1, 0, &kernel.SystemConfigCPUV3{MHz: 2400, NumberOfProcessors: 2, MemSize: 8192, PageSize: 4096, ComputerName: text("BOX")})
	k.log(0, -1, -1, 0, &power.PreSleepNotificationV3{EffectiveState: 4})
	k.log(0, -1, -1, 0, &kernel.SystemConfigServicesV2{ProcessID: 100, ServiceState: kernel.ServiceStateRunning, ServiceName: text("App"), DisplayName: text("The App"), ProcessName: text("app.exe")})
	k.log(0, -1, -1, 0, &kernel.PerfInfoCollectionStartV3{NewInterval: 10000})
	k.log(1, -1, -1, 0, &kernel.ThreadCSwitchV2{NewThreadID: 1000})
	k.log(2, -1, -1, 0, &kernel.PerfInfoSampleV2{ThreadID: 1000, InstructionPointer: 0x140001000, Count: 1})
	k.stack(2.1, 2, 1000, 0xfffff80000001000, 0xfffff80000002000)
	k.log(3, 100, 1000, 0, (*kernel.ProcessStartV4)(&child))
	k.log(3, 100, 1000, 0, &kernel.ThreadStartV3{ProcessID: 104, TThreadID: 1004})
	k.log(3, 104, 1004, 0, &kernel.ImageLoadV3{ImageBase: 0x140000000, ImageSize: 0x4000, ProcessID: 104, FileName: text(`\Device\HarddiskVolume2\Apps\child.exe`)})
	k.log(4, -1, -1, 0, &kernel.ThreadCSwitchV2{OldThreadID: 1000, NewThreadID: 1004})
	k.log(5, -1, -1, 0, &kernel.PerfInfoSampleV2{ThreadID: 1004, InstructionPointer: 0x140001000, Count: 1})
	k.log(5, -1, -1, 0, &kernel.DiskIoReadV3{TransferSize: 4096, FileObject: 0xa, HighResResponseTime: 5000, IssuingThreadID: 1004})
	k.log(5, -1, -1, 0, &kernel.DiskIoWriteV3{TransferSize: 512, FileObject: 0xb, HighResResponseTime: 2000, IssuingThreadID: 1000})
	k.log(5.2, -1, -1, 0, &kernel.PerfInfoDPCV2{InitialTime: uint64(at(5.1, etw.Record{}).Timestamp), Routine: 0xfffff80000001000})
	k.log(6, -1, -1, 0, &kernel.FileIoReadV3{IrpPtr: 7, FileKey: 0xa, TTID: 1004, IoSize: 4000})
	k.log(6.5, -1, -1, 0, &kernel.FileIoOperationEndV3{IrpPtr: 7})
	k.log(6.8, -1, -1, 0, &kernel.PageFaultHardFaultV2{InitialTime: uint64(at(6.6, etw.Record{}).Timestamp), FileObject: 0xa, TThreadID: 1004, ByteCount: 8192})
	k.log(7, -1, -1, 0, &kernel.TCPIPSendV2{PID: 100, Size: 1500, Saddr: 0x0100007f, Sport: 0x3930, Daddr: 0x08080808, Dport: 0x5000})
	k.log(7, -1, -1, 0, &kernel.TCPIPRetransmitV2{PID: 100, Size: 1500, Saddr: 0x0100007f, Sport: 0x3930, Daddr: 0x08080808, Dport: 0x5000})
	k.log(7.5, 104, 1004, 0, &kernel.RegistryOpenV2{InitialTime: at(7.2, etw.Record{}).Timestamp, KeyName: text(`\REGISTRY\MACHINE\SOFTWARE\App`)})
	stop := kernel.ProcessStopV4(child)
	stop.ExitStatus = -1
	k.log(8, 104, 1004, 0, &kernel.ThreadStopV3{ProcessID: 104, TThreadID: 1004})
	k.log(8, 104, 1004, 0, &stop)
	k.stack(8.1, 2, 1000, 0x140001000)
	k.stack(8.1, 3, 1000, 0x140002000)
	k.log(8.5, -1, -1, 0, &kernel.ThreadCSwitchV2{OldThreadID: 1004, NewThreadID: 0})
	k.log(9, -1, -1, 0, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: text(`\Device\HarddiskVolume2\Apps\data.bin`)})
	k.log(10, -1, -1, 0, (*kernel.ProcessDCStopV4)(&app))
	if k.err != nil {
		return nil, k.err
	}
	slices.SortStableFunc(k.records[2:5], func(a, b *etw.Record) int { return slices.Compare(a.Payload, b.Payload) })
	return etltest.File(header(), k.records...)
}

// Every view has rows in every format, and the document is whole.
func TestMachineViews(t *testing.T) {
	data, err := machineTrace()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "machine.etl")
	testio.Write(t, path, data)
	for name, views := range questions(groupBox) {
		out, stderr, code := output(name, "--json", path)
		var doc struct {
			Schema int
			Lost   *int64
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.Schema == 0 || doc.Lost == nil {
			t.Errorf("%s: %v, %s\n%s", name, err, stderr, out)
		}
		for _, view := range views {
			out, stderr, code := output(name, "--by", view, "--format", "csv", path)
			rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
			if err != nil || code != 0 || len(rows) < 2 {
				t.Errorf("%s --by %s: %v, %s\n%s", name, view, err, stderr, out)
			}
			if text, _, _ := output(name, "--by", view, path); strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
				t.Errorf("%s --by %s:\n%s", name, view, text)
			}
			for _, column := range rows[0] {
				if _, stderr, code := output(name, "--by", view, "--sort", column, path); code != 0 {
					t.Errorf("%s --by %s --sort %s: %s", name, view, column, stderr)
				}
			}
		}
	}
}
