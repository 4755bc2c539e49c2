package system_test

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Providers with manifests tell of processes, threads and images as the classic events do; a
// fact that both tell is one.
func TestProvidedProcesses(t *testing.T) {
	for _, both := range []bool{false, true} {
		m, s := script(t)
		image := etw.MakeUTF16(`\Device\HarddiskVolume2\Program Files\Shop\shop server.exe`)
		s.Event(1*ms, 0, &process.StartV1{ProcessID: 8, ParentProcessID: 4, SessionID: 1, ImageName: image})
		if both {
			s.Event(1*ms+1000, 0, &kernel.ProcessStartV4{UniqueProcessKey: 0xb, ProcessID: 8, ParentID: 4, SessionID: 1, ImageFileName: etw.ANSI("shop server.e")})
			s.Event(2*ms-500, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 80})
			s.Event(3*ms-500, 0, &kernel.ImageLoadV3{ProcessID: 8, ImageBase: 0x10000, ImageSize: 0x1000, FileName: image})
		}
		s.Event(2*ms, 0, &process.ThreadStart{ProcessID: 8, ThreadID: 80, Win32StartAddr: 0x10010})
		s.Event(3*ms, 0, &process.ImageLoad{ProcessID: 8, ImageBase: 0x10000, ImageSize: 0x1000, TimeDateStamp: 5, ImageName: image})
		s.Event(4*ms, 0, &process.ImageUnload{ProcessID: 8, ImageBase: 0x10000, ImageSize: 0x1000, ImageName: image})
		s.Event(5*ms, 0, &process.ThreadStop{ProcessID: 8, ThreadID: 80})
		if both {
			s.Event(5*ms+500, 0, &kernel.ThreadStopV3{ProcessID: 8, TThreadID: 80})
			s.Event(6*ms-500, 0, &kernel.ProcessStopV4{UniqueProcessKey: 0xb, ProcessID: 8, ExitStatus: 3})
		}
		s.Event(6*ms, 0, &process.StopV1{ProcessID: 8, ExitCode: 3, ImageName: etw.ANSI("shop server.ex")})
		s.Event(7*ms, 0, &process.Rundown{ProcessID: 9, ParentProcessID: 8, ImageName: etw.MakeUTF16(`\Device\HarddiskVolume2\other.exe`)})
		var got []system.Process
		for _, p := range m.Processes() {
			got = append(got, *p)
		}
		if len(got) != 2 || len(m.Threads()) != 1 {
			t.Fatalf("%v: %d processes, %d threads", both, len(got), len(m.Threads()))
		}
		p := got[0]
		if p.Name != "shop server.exe" || p.ParentPID != 4 || !p.Started || !p.Ended || !p.HasExitCode || p.ExitCode != 3 || got[1].Name != "other.exe" || got[1].ParentPID != 8 {
			t.Errorf("%v: %+v", both, p)
		}
		if i := p.Images.At(0x10010, at(3*ms)); i == nil || i.TimeDateStamp != 5 || !i.Ended {
			t.Errorf("%v: %+v", both, i)
		}
	}
}

// Traffic of the network, disks and files adds up, once if it is told twice.
func TestProvidedTransfers(t *testing.T) {
	for _, both := range []bool{false, true} {
		var mux etw.Mux
		n, f := system.NewNetwork(&mux), system.FilesOf(&mux)
		s := testtrace.NewScript(t, &mux)
		here, there := []byte{0xfe, 0x80, 15: 1}, []byte{0x20, 1, 15: 2}
		s.Event(1*ms, 0, &network.TCPSend{PID: 8, Size: 100, Saddr: 0x0100007f, Daddr: 0x0200007f, Sport: 0x5000, Dport: 0xbb01})
		s.Event(2*ms, 0, &network.TCPReceive{PID: 8, Size: 11, Saddr: 0x0100007f, Daddr: 0x0200007f, Sport: 0x5000, Dport: 0xbb01})
		s.Event(3*ms, 0, &network.UDPReceiveIPv6{PID: 8, Size: 7, Daddr: here, Saddr: there, Dport: 0x3500, Sport: 0x3500})
		s.Event(4*ms, 0, &file.CreateV1{Irp: 1, FileObject: 0x100, IssuingThreadID: 80, FileName: etw.MakeUTF16(`\Device\HarddiskVolume2\a b.txt`)})
		s.Event(5*ms, 0, &file.ReadV1{Irp: 2, FileObject: 0x100, FileKey: 0x200, IssuingThreadID: 80, IOSize: 512})
		if both {
			s.Event(1*ms, 0, &kernel.TCPIPSendV2{PID: 8, Size: 100, Saddr: 0x0100007f, Daddr: 0x0200007f, Sport: 0x5000, Dport: 0xbb01})
			s.Event(5*ms, 0, &kernel.FileIoReadV3{IrpPtr: 2, FileObject: 0x100, FileKey: 0x200, TTID: 80, IoSize: 512})
			s.Event(5*ms, 0, &kernel.FileIoFlushV3{IrpPtr: 2, FileObject: 0x100, FileKey: 0x200, TTID: 80})
		}
		s.Event(6*ms, 0, &file.OperationEnd{Irp: 2})
		s.Event(7*ms, 0, &disk.Read{DiskNumber: 1, TransferSize: 4096, FileObject: 0x200, HighResResponseTime: uint64(ms)})
		s.Event(7*ms, 0, &disk.Flush{DiskNumber: 1, HighResResponseTime: uint64(ms)})
		list := n.All()
		if len(list) != 2 || list[0].BytesSent != 100 || list[0].BytesReceived != 11 || list[0].Remote.String() != "127.0.0.2:443" ||
			list[1].Received != 1 || list[1].Local.String() != "[fe80::1]:53" || list[1].Remote.String() != "[2001::2]:53" || list[0].Process.PID != 8 {
			t.Errorf("%v: %+v", both, list)
		}
		var opens, reads, others, read, disked, flushes uint64
		for _, u := range f.All() {
			opens, reads, others, read = opens+u.Opens, reads+u.Reads, others+u.Others, read+u.BytesRead
			for _, d := range u.OnDisk {
				disked, flushes = disked+d.BytesRead, flushes+d.Flushes
			}
			if u.File != nil && u.File.Path != `\Device\HarddiskVolume2\a b.txt` {
				t.Errorf("%v: %q", both, u.File.Path)
			}
		}
		want := [6]uint64{1, 1, 0, 512, 4096, 1}
		if both {
			want[2] = 1 // only one of them tells of it
		}
		if got := [6]uint64{opens, reads, others, read, disked, flushes}; got != want {
			t.Errorf("%v: %v, want %v", both, got, want)
		}
	}
}
