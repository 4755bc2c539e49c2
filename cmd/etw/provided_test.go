package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// providedTrace is a recording of a machine as by logman and krabs: events of the kernel's
// providers with manifests alone, of a process whose path has blanks, one with a code of
// Windows, and another one with the same number.
func providedTrace(t *testing.T) string {
	const ide, helper = 5864, 700
	text := etw.MakeUTF16
	dev := text(`\Device\HarddiskVolume2\Program Files (x86)\Some Studio\dev env.exe`)
	return etlOf(t, etw.Ptr64, ide, time.Millisecond, []etw.Event{
		&process.StartV1{ProcessID: ide, ParentProcessID: 4, SessionID: 1, ImageName: dev},
		&process.StartV1{ProcessID: helper, ParentProcessID: ide, SessionID: 1, ImageName: text(`\Device\HarddiskVolume2\Windows\System32\SearchHost.exe`)},
		&process.ImageLoad{ProcessID: ide, ImageBase: 0x10000, ImageSize: 0x20000, TimeDateStamp: 5, ImageName: dev},
		&network.TCPSend{PID: ide, Size: 100, Saddr: 0x0100000a, Daddr: 0x26f3e1a5, Sport: 0x5000, Dport: 0xbb01},
		&network.TCPReceive{PID: ide, Size: 1000, Saddr: 0x0100000a, Daddr: 0x26f3e1a5, Sport: 0x5000, Dport: 0xbb01},
		&network.TCPSendIPv6{PID: ide, Size: 77, Daddr: []byte{0x20, 1, 15: 2}, Saddr: []byte{0xfe, 0x80, 15: 1}, Dport: 0xbb01, Sport: 0x5100},
		&network.UDPSend{PID: ide, Size: 33, Daddr: 0x0100007f, Saddr: 0x0100007f, Dport: 0x3500, Sport: 0x3600},
		&file.CreateV1{Irp: 1, FileObject: 0x100, IssuingThreadID: ide, FileName: text(`\Device\HarddiskVolume2\a b.txt`)},
		&process.StopV1{ProcessID: helper, ExitCode: 0x40010004, ImageName: etw.ANSI("SearchHost.exe")},
		&process.StartV1{ProcessID: helper, ParentProcessID: 4, SessionID: 1, ImageName: text(`\Device\HarddiskVolume2\Windows\notepad.exe`)},
	})
}

// etlOf writes an .etl file of events of a process, in the order and at the distance given.
func etlOf(t *testing.T, ptr etw.PtrSize, pid int64, each time.Duration, events []etw.Event) string {
	t.Helper()
	h := etltest.DefaultHeader()
	var records []*etw.Record
	for i, e := range events {
		d := e.EventDesc()
		payload := testio.Payload(t, e, ptr)
		records = append(records, &etw.Record{Kind: d.Kind, Provider: d.Key().Provider, ID: d.ID, Version: d.Version, Level: d.Level, Opcode: d.Opcode, Task: d.Task, Keywords: d.Keywords,
			PointerSize: ptr, ProcessID: pid, ThreadID: pid, Timestamp: h.Clock.Origin + int64(i)*each.Nanoseconds()/100, Payload: payload})
	}
	data := testio.Encoded(t, etltest.File, h, records...)
	path := filepath.Join(t.TempDir(), "machine.etl")
	write(t, path, data)
	return path
}

// TestProvided asks of such a trace, without --manifest, the questions of a person: words
// that stand in a line of the answer.
func TestProvided(t *testing.T) {
	path := providedTrace(t)
	for _, c := range []struct {
		args []string
		want []string // words of a line each
	}{
		{[]string{"processes"}, []string{"5864 4 dev env.exe", "700 5864 SearchHost.exe 0x40010004", "700 4 notepad.exe"}},
		{[]string{"processes", "--format", "csv"}, []string{"SearchHost.exe 1073807364"}},
		{[]string{"processes", "--images", "--process", "dev env.exe"}, []string{`Some Studio\dev env.exe`}},
		{[]string{"network"}, []string{"sent 210 bytes in 3 packets", "received 1.0 kB in 1 packet", "dev env.exe tcp 10.0.0.1:80 165.225.243.38:443 100 1000",
			"tcp [fe80::1]:81 [2001::2]:443 77", "udp 127.0.0.1:54 127.0.0.1:53 33"}},
		{[]string{"files"}, []string{"opened 1 time", "read unknown", "written unknown", `\Device\HarddiskVolume2\a b.txt`}},
		{[]string{"dump", "-p", "Microsoft-Windows-Kernel-Network"}, []string{"TcpSend size=100 daddr=165.225.243.38 saddr=10.0.0.1 dport=443 sport=80", "TcpSendIPv6 daddr=2001::2 saddr=fe80::1 dport=443"}},
	} {
		out, stderr, code := output(append(c.args, path)...)
		if code != 0 {
			t.Errorf("%q: code %d: %s", c.args, code, stderr)
		}
		for _, want := range c.want {
			if !hasLine(out, strings.Fields(want)) {
				t.Errorf("%q: no line has %q:\n%s", c.args, want, out)
			}
		}
	}
	if out, _, _ := output("files", path); strings.Contains(out, "READS") || !strings.Contains(out, "OPENS") {
		t.Errorf("files has columns of what no event tells:\n%s", out)
	}
}

// hasLine reports whether a line of a text has all words, in that order.
func hasLine(text string, words []string) bool {
	for line := range strings.Lines(text) {
		rest, all := []byte(line), true
		for _, w := range words {
			_, after, ok := bytes.Cut(rest, []byte(w))
			if !ok {
				all = false
				break
			}
			rest = after
		}
		if all {
			return true
		}
	}
	return false
}

// TestNoCollections asks for collections where ticks of allocations alone are in the trace:
// they have the same keyword, so that there were none, which is an answer.
func TestNoCollections(t *testing.T) {
	source, part := filepath.Join(t.TempDir(), "alloc.nettrace"), filepath.Join(t.TempDir(), "ticks.nettrace")
	write(t, source, recorded(t, "alloc.nettrace"))
	if _, stderr, code := output("filter", source, "-e", "GCAllocationTick", "-o", part); code != 0 {
		t.Fatal(stderr)
	}
	out, stderr, code := output("gc", part)
	if code != 0 || stderr != "" || !hasLine(out, []string{"collections", " 0:"}) || !hasLine(out, []string{"allocated", "by allocation ticks"}) {
		t.Errorf("code %d: %s%s", code, out, stderr)
	}
}

// TestProvidedInPart: the kernel's session and one of its providers overlap for a part of the time,
// and each request and each packet is one.
func TestProvidedInPart(t *testing.T) {
	var list []etw.Event
	send := func(kernelToo, provided bool) {
		if kernelToo {
			list = append(list, &kernel.TCPIPSendV2{PID: 8, Size: 100, Saddr: 0x0100007f, Daddr: 0x0200007f, Sport: 0x5000, Dport: 0xbb01},
				&kernel.DiskIoReadV3{DiskNumber: 1, TransferSize: 4096, Irp: etw.Pointer(len(list)), HighResResponseTime: 10})
		}
		if provided {
			irp := len(list)
			if kernelToo {
				irp -= 2
			}
			list = append(list, &network.TCPSend{PID: 8, Size: 100, Saddr: 0x0100007f, Daddr: 0x0200007f, Sport: 0x5000, Dport: 0xbb01},
				&disk.Read{DiskNumber: 1, TransferSize: 4096, IORequestPacket: etw.Pointer(irp), HighResResponseTime: 10})
		}
	}
	for i := range 7 {
		send(i < 4, i > 1)
	}
	path := etlOf(t, etw.Ptr64, 8, 400*time.Microsecond, list)
	for ask, want := range map[string]string{
		"network":       ",7,700,0,0,",
		"files --disks": ",7,28672,0,0,",
	} {
		out, stderr, code := output(append(strings.Fields(ask), "--format", "csv", path)...)
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: code %d, %s, no %s in %s", ask, code, stderr, want, out)
		}
	}
}

// TestNoneOfKeyword: a lock was made, and none was waited for, as far as nothing was lost.
func TestNoneOfKeyword(t *testing.T) {
	path := etlOf(t, etw.Ptr64, 8, time.Millisecond, []etw.Event{&clr.ContentionLockCreated{LockID: 1}})
	if _, stderr, _ := output("waits", "--locks", path); !strings.Contains(stderr, "and there were none") {
		t.Error(stderr)
	}
	data, err := os.ReadFile(path)
	at := bytes.Index(data, []byte{0, 0, 1, 0, 10, 0, 1, 5}) // the size of buffers, and the version
	if err != nil || at < 0 {
		t.Fatal(err)
	}
	data[at+48] = 7 // events that were lost
	write(t, path, data)
	if _, stderr, _ := output("waits", "--locks", path); strings.Contains(stderr, "there were none") || !strings.Contains(stderr, "whether there were any is not known") {
		t.Error(stderr)
	}
}
