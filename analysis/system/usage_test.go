package system_test

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A desk has all that a machine can be asked.
type desk struct {
	*testtrace.Script
	machine *system.Machine
	usage   *system.Usage
	files   *system.Files
	network *system.Network
}

func newDesk(t *testing.T) *desk {
	var mux etw.Mux
	m := system.Of(&mux)
	return &desk{testtrace.NewScript(t, &mux), m, system.NewUsage(&mux), system.FilesOf(&mux), system.NewNetwork(&mux)}
}

// on gives an event of a processor.
func (d *desk) on(t *testing.T, at time.Duration, cpu int32, e etw.Event) {
	p := testio.Payload(t, e, etw.Ptr64)
	desc := e.EventDesc()
	d.PID = -1
	d.Record(at, -1, &etw.Record{Kind: etw.KindClassic, Provider: desc.Class, Opcode: desc.Opcode, Version: desc.Version, PointerSize: etw.Ptr64, Processor: cpu, Payload: p})
}

func TestUsage(t *testing.T) {
	d := newDesk(t)
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	d.Event(0, 0, &kernel.ThreadDCStartV3{ProcessID: 8, TThreadID: 80})
	d.Event(0, 0, &kernel.ThreadDCStartV3{ProcessID: 8, TThreadID: 84})
	sample := func(at time.Duration, tid uint32) { d.on(t, at, 0, &kernel.PerfInfoSampleV2{ThreadID: tid, Count: 1}) }
	change := func(at time.Duration, cpu int32, from, to uint32) {
		d.on(t, at, cpu, &kernel.ThreadCSwitchV2{OldThreadID: from, NewThreadID: to})
	}
	sample(1*ms, 80) // 1 ms unless told otherwise
	if interval := d.usage.Result().SampleMS.Or(0); interval != 1 {
		t.Errorf("the interval is %v", interval)
	}
	d.on(t, 1*ms, 0, &kernel.PerfInfoSetIntervalV2{OldInterval: 10000, NewInterval: 1221})
	d.on(t, 1*ms, 0, &kernel.PerfInfoSetIntervalV2{Source: kernel.ProfileSourceProfileTotalIssues, NewInterval: 5})
	sample(2*ms, 80)
	sample(3*ms, 84)
	sample(3*ms, 0)
	change(2*ms, 0, 80, 84) // how long 80 ran before, nothing tells
	change(4*ms, 0, 84, 80)
	d.Event(5*ms, 0, &kernel.ThreadStopV3{ProcessID: 8, TThreadID: 80})
	change(7*ms, 0, 80, 0) // it ran until here, its end is logged before
	change(8*ms, 1, 0, 84)
	change(9*ms, 1, 88, 0) // events are missing
	change(10*ms, 0, 0, 84)
	change(12*ms, -1, 0, 84)
	d.usage.Settle()
	d.usage.Settle()
	if got := d.usage.Of(d.machine.Thread(80)); got.Samples != 2 || !near(got.SampledMS(), 1.1221) || got.Switches != 1 || !near(d.usage.RanMS(got), 3) {
		t.Errorf("80: %+v", got)
	}
	if got := d.usage.Of(d.machine.Thread(84)); got.Samples != 1 || got.Switches != 3 || !near(d.usage.RanMS(got), 2) {
		t.Errorf("84: %+v", got)
	}
	if got := d.usage.OfProcess(d.machine.Process(8)); got.Samples != 3 || !near(d.usage.RanMS(got), 5) || len(d.machine.Process(8).Threads) != 2 {
		t.Errorf("the process: %+v", got)
	}
	if got := d.usage.OfProcess(d.machine.Process(0)); got.Samples != 1 || !near(d.usage.RanMS(got), 3) {
		t.Errorf("idle: %+v", got)
	}
	if d.usage.Samples() != 4 || d.usage.Switches() != 7 || d.usage.Gaps() != 1 {
		t.Errorf("%d samples, %d switches, %d gaps", d.usage.Samples(), d.usage.Switches(), d.usage.Gaps())
	}
}

// TestUsageSettled adds the times that the last switches leave open, once.
func TestUsageSettled(t *testing.T) {
	d := newDesk(t)
	d.Event(0, 0, &kernel.ThreadDCStartV3{ProcessID: 8, TThreadID: 80})
	d.on(t, 2*ms, 0, &kernel.ThreadCSwitchV2{OldThreadID: 84, NewThreadID: 80})
	d.on(t, 5*ms, 1, &kernel.ThreadCSwitchV2{OldThreadID: 84, NewThreadID: 0})
	d.usage.Settle()
	d.usage.Settle()
	if got := d.usage.RanMS(d.usage.Of(d.machine.Thread(80))); math.Abs(got-3) > 1e-9 {
		t.Errorf("80 ran %v ms, want 3", got)
	}
}

func TestFiles(t *testing.T) {
	d := newDesk(t)
	text := etw.MakeUTF16
	d.Event(0, 0, &kernel.ThreadDCStartV3{ProcessID: 8, TThreadID: 80})
	d.Event(1*ms, 0, &kernel.DiskIoReadV3{DiskNumber: 1, TransferSize: 100, FileObject: 0xa, HighResResponseTime: 2e6, IssuingThreadID: 80})
	d.Event(2*ms, 0, &kernel.FileIoFileDeleteV2{FileObject: 0xa, FileName: text(`\gone`)})
	d.Event(3*ms, 0, &kernel.DiskIoReadV3{DiskNumber: 1, TransferSize: 10, FileObject: 0xa, IssuingThreadID: 80})
	d.Event(4*ms, 0, &kernel.DiskIoWriteV3{DiskNumber: 2, TransferSize: 7, FileObject: 0xa, IssuingThreadID: 80, HighResResponseTime: 1e6})
	d.Event(4*ms, 0, &kernel.DiskIoFlushBuffersV3{DiskNumber: 2, IssuingThreadID: 0xffffffff})
	d.PID = 8
	d.Event(5*ms, 84, &kernel.DiskIoWriteInitV2{Irp: 0x77})
	d.Event(6*ms, 84, &kernel.DiskIoWriteV2{DiskNumber: 2, TransferSize: 3, Irp: 0x77, FileObject: 0xb})
	d.Event(9*ms, 0, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: text(`\there`)})
	d.Event(9*ms, 0, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: text(`\there`)})
	d.Event(9*ms, 0, &kernel.FileIoNameV2{FileObject: 0xa, FileName: text(`\another`)})
	d.Event(9*ms, 0, &kernel.DiskIoReadV3{DiskNumber: 1, TransferSize: 1, FileObject: 0xa, IssuingThreadID: 80})
	type row struct {
		path                string
		tid                 int64
		disk                uint32
		read, written, ms   float64
		reads, writes, rest uint64
	}
	var got []row
	for _, u := range d.files.All() {
		for i := range u.OnDisk {
			k := &u.OnDisk[i]
			r := row{"(none)", -1, k.Disk, float64(k.BytesRead), float64(k.BytesWritten), d.files.DiskMS(k), k.Reads, k.Writes, k.Flushes}
			if u.File != nil {
				r.path = u.File.Path
			}
			if u.Thread != nil {
				r.tid = u.Thread.TID
			}
			got = append(got, r)
		}
	}
	want := []row{
		{`\gone`, 80, 1, 100, 0, 2, 1, 0, 0},
		{`\there`, 80, 1, 10, 0, 0, 1, 0, 0},
		{`\there`, 80, 2, 0, 7, 1, 0, 1, 0},
		{"(none)", -1, 2, 0, 0, 0, 0, 0, 1},
		{"", 84, 2, 0, 3, 0, 0, 1, 0},
		{`\another`, 80, 1, 1, 0, 0, 1, 0, 0},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if disks := d.files.Disks(); len(disks) != 2 || disks[0] != 1 || disks[1] != 2 {
		t.Errorf("disks are %v", disks)
	}
}

// A thread that asked a disk may be over before the answer, and its number another one's: with an event
// of the begin and without.
func TestDiskOfThreadThatEnded(t *testing.T) {
	for _, told := range []bool{true, false} {
		d := newDesk(t)
		d.Event(1*ms, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 90})
		if told {
			d.Event(2*ms, 90, &kernel.DiskIoReadInitV3{Irp: 1, IssuingThreadID: 90})
		}
		d.Event(3*ms, 0, &kernel.ThreadStopV3{ProcessID: 8, TThreadID: 90})
		d.Event(4*ms, 0, &kernel.ThreadStartV3{ProcessID: 9, TThreadID: 90})
		d.Event(6*ms, 0, &kernel.DiskIoReadV3{Irp: 1, TransferSize: 10, HighResResponseTime: uint64(4 * ms), IssuingThreadID: 90})
		if u := d.files.All()[0]; u.Thread.Process == nil || u.Thread.Process.PID != 8 {
			t.Errorf("the thread is %+v", u.Thread)
		}
	}
}

func TestFileOperations(t *testing.T) {
	d := newDesk(t)
	text := etw.MakeUTF16
	d.Event(1*ms, 0, &kernel.FileIoCreateV3{IrpPtr: 1, FileObject: 0x100, TTID: 80, OpenPath: text(`\opened`)})
	d.Event(2*ms, 0, &kernel.FileIoOperationEndV3{IrpPtr: 1})
	d.Event(3*ms, 0, &kernel.FileIoReadV3{IrpPtr: 2, FileObject: 0x100, FileKey: 0xa, TTID: 80, IoSize: 50})
	d.Event(6*ms, 0, &kernel.FileIoOperationEndV3{IrpPtr: 2})
	d.Event(6*ms, 0, &kernel.FileIoOperationEndV3{IrpPtr: 2})
	d.Event(7*ms, 0, &kernel.FileIoWriteV3{IrpPtr: 3, FileObject: 0x100, FileKey: 0xa, TTID: 80, IoSize: 4})
	d.Event(8*ms, 0, &kernel.FileIoFlushV3{IrpPtr: 4, FileObject: 0x100, FileKey: 0, TTID: 80})
	d.Event(8*ms, 0, &kernel.FileIoCloseV3{IrpPtr: 5, FileObject: 0x100, FileKey: 0xa, TTID: 80})
	d.Event(9*ms, 0, &kernel.FileIoReadV3{IrpPtr: 6, FileObject: 0x100, FileKey: 0xb, TTID: 80, IoSize: 1})
	all := d.files.All()
	if len(all) != 3 {
		t.Fatalf("%d rows", len(all))
	}
	if u := all[0]; u.File.Path != `\opened` || u.Opens != 1 || u.Others != 1 || d.files.MS(u) != 1 {
		t.Errorf("%+v", u)
	}
	if u := all[1]; u.File.Path != `\opened` || u.Reads != 1 || u.Writes != 1 || u.Others != 1 || u.BytesRead != 50 || u.BytesWritten != 4 || d.files.MS(u) != 3 {
		t.Errorf("%+v", u)
	}
	if u := all[2]; u.File.Path != "" || u.BytesRead != 1 || u.Thread.TID != 80 {
		t.Errorf("%+v", u)
	}
}

func TestNetwork(t *testing.T) {
	d := newDesk(t)
	const here, there, port, http = 0x0100007f, 0x08080808, 0x3930, 0x5000 // 127.0.0.1, 8.8.8.8, 12345, 80, as payloads have them
	d.Event(1*ms, 0, &kernel.TCPIPConnectV2{PID: 8, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(2*ms, 0, &kernel.TCPIPSendV2{PID: 8, Size: 100, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(2*ms, 0, &kernel.TCPIPSendV2{PID: 8, Size: 10, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(3*ms, 0, &kernel.TCPIPRecvV2{PID: 8, Size: 5, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(4*ms, 0, &kernel.TCPIPRetransmitV2{PID: 8, Size: 5, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(5*ms, 0, &kernel.TCPIPDisconnectV2{PID: 8, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(5*ms, 0, &kernel.TCPIPSendV2{PID: 0xffffffff, Size: 1, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(5*ms, 0, &kernel.TCPIPFailV2{})
	six := func(last byte) etw.Binary { return append(make(etw.Binary, 15), last) }
	d.Event(6*ms, 0, &kernel.TCPIPAcceptIPV6V2{PID: 8, Saddr: six(1), Sport: port, Daddr: six(2), Dport: http})
	d.Event(6*ms, 0, &kernel.TCPIPRecvIPV6V2{PID: 8, Size: 9, Saddr: six(1), Sport: port, Daddr: six(2), Dport: http})
	d.Event(7*ms, 0, &kernel.UDPIPSendV2{PID: 8, Size: 3, Saddr: here, Sport: port, Daddr: there, Dport: http})
	d.Event(7*ms, 0, &kernel.UDPIPRecvIPV6V2{PID: 8, Size: 4, Saddr: six(1), Sport: port, Daddr: six(2), Dport: http})
	all := d.network.All()
	if len(all) != 5 || d.network.Failures() != 1 {
		t.Fatalf("%d connections, %d failures", len(all), d.network.Failures())
	}
	c := all[0]
	if c.Local != netip.MustParseAddrPort("127.0.0.1:12345") || c.Remote != netip.MustParseAddrPort("8.8.8.8:80") || c.Protocol != "tcp" || c.Process.PID != 8 {
		t.Errorf("%+v", c)
	}
	if c.Sent != 2 || c.BytesSent != 110 || c.Received != 1 || c.BytesReceived != 5 || c.Retransmits != 1 || c.Connects != 1 || c.Disconnects != 1 || c.Start != at(1*ms) || c.End != at(5*ms) {
		t.Errorf("%+v", c)
	}
	if c := all[1]; c.Process != nil || c.Sent != 1 {
		t.Errorf("%+v", c)
	}
	if c := all[2]; c.Remote != netip.MustParseAddrPort("[::2]:80") || c.Accepts != 1 || c.BytesReceived != 9 {
		t.Errorf("%+v", c)
	}
	if all[3].Protocol != "udp" || all[3].BytesSent != 3 || all[4].BytesReceived != 4 || all[4].Local != netip.MustParseAddrPort("[::2]:80") {
		t.Errorf("%+v %+v", all[3], all[4])
	}
}
