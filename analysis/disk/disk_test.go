package disk

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestDisk(t *testing.T) {
	var mux etw.Mux
	a, files := New(&mux), system.FilesOf(&mux)
	s := testtrace.NewScript(t, &mux)
	event := func(ms int, thread int64, stack byte, e etw.Event) {
		s.Stack = etw.Stack{}
		if stack > 0 {
			s.Stack = testtrace.AStack(stack)
		}
		s.Event(time.Duration(ms)*time.Millisecond, thread, e)
	}
	event(1, 7, 5, &kernel.DiskIoReadInitV3{Irp: 9, IssuingThreadID: 7})
	event(2, 8, 6, &kernel.DiskIoWriteInitV2{Irp: 10}) // the thread is that of the record
	event(3, -1, 0, &kernel.DiskIoWriteV3{DiskNumber: 2, TransferSize: 512, FileObject: 0xb, Irp: 10, HighResResponseTime: 2e6, IssuingThreadID: 8})
	event(6, -1, 0, &kernel.DiskIoReadV3{TransferSize: 4096, FileObject: 0xa, Irp: 9, HighResResponseTime: 5e6, IssuingThreadID: 7})
	event(7, 7, 5, &kernel.DiskIoReadInitV3{Irp: 11, IssuingThreadID: 7}) // is never answered
	event(9, -1, 0, &kernel.DiskIoFlushBuffersV3{Irp: 77, HighResResponseTime: 1e6, IssuingThreadID: 0xffffffff})
	event(10, -1, 0, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: etw.MakeUTF16(`\Device\x\data.bin`)})
	samples, res := a.Samples()[0], a.Result()
	var got []string
	for x := range samples.All() {
		got = append(got, fmt.Sprint(x.Process, x.Thread, samples.Stack(x.Stack), x.Labels, x.Values))
	}
	want := []string{
		`1 7 [5] [{op read} {disk disk 0} {file \Device\x\data.bin}] [1 5000000]`,
		`1 8 [6] [{op write} {disk disk 2}] [1 2000000]`,
		`-1 -1 [] [{op flush} {disk disk 0}] [1 1000000]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	open := []system.Unanswered{{PID: 1, TID: 7, AtMS: 7, MS: 2}}
	if diff := cmp.Diff(open, files.Result().Unanswered); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (Result{Operations: 3, Open: 1, Orphans: 1, Bytes: 4608, Time: 8e6, Busy: 8e6}); *res != want {
		t.Errorf("got %+v, want %+v", res, want)
	}
}

// Answers that have manifests count as the classic ones do, and once where both tell.
func TestProvided(t *testing.T) {
	for _, both := range []bool{false, true} {
		var mux etw.Mux
		f, a := system.FilesOf(&mux), New(&mux)
		s := testtrace.NewScript(t, &mux)
		s.Event(6*time.Millisecond, -1, &disk.Read{DiskNumber: 1, TransferSize: 4096, IORequestPacket: 9, HighResResponseTime: 5e6})
		if both {
			s.Event(6*time.Millisecond, -1, &kernel.DiskIoReadV3{DiskNumber: 1, TransferSize: 4096, Irp: 9, HighResResponseTime: 5e6})
		}
		s.Event(9*time.Millisecond, -1, &disk.Write{DiskNumber: 2, TransferSize: 512, IORequestPacket: 10, HighResResponseTime: 2e6})
		s.Event(9*time.Millisecond, -1, &disk.Flush{DiskNumber: 2, IORequestPacket: 11, HighResResponseTime: 1e6})
		if got, want := *a.Result(), (Result{Operations: 3, Orphans: 3, Bytes: 4608, Time: 8e6, Busy: 7e6}); got != want {
			t.Errorf("%v: got %+v, want %+v", both, got, want)
		}
		var bytes, flushes uint64
		for _, d := range (system.DisksResult{FilesResult: f.Result()}).Disks() {
			bytes, flushes = bytes+d.BytesRead+d.BytesWritten, flushes+d.Flushes
		}
		if bytes != 4608 || flushes != 1 {
			t.Errorf("%v: the tables have %d bytes, %d flushes", both, bytes, flushes)
		}
	}
}

// Operations, bytes and time are those that the tables of disks have.
func TestCorpus(t *testing.T) {
	traces, operations := 0, 0
	for _, path := range testtrace.All(t) {
		if !strings.HasSuffix(path, ".etl") {
			continue
		}
		var mux etw.Mux
		files, a := system.FilesOf(&mux), New(&mux)
		testtrace.Run(t, &mux, path)
		samples, res := a.Samples()[0], a.Result()
		var want uint64
		ms := 0.0
		for _, f := range files.Result().Files {
			for _, d := range f.Disks {
				want += d.BytesRead + d.BytesWritten
				ms += d.MS
			}
		}
		if res.Bytes != want || float64(res.Time)/1e6-ms > 0.01 || ms-float64(res.Time)/1e6 > 0.01 {
			t.Errorf("%s: %+v; the tables have %d bytes, %v ms", testtrace.Name(path), res, want, ms)
		}
		if samples.Len() != res.Operations {
			t.Errorf("%s: %d samples, %+v", testtrace.Name(path), samples.Len(), res)
		}
		if res.Operations > 0 {
			traces++
			operations += res.Operations
		}
	}
	t.Logf("%d traces, %d operations", traces, operations)
}

// A time that is longer than the session can have taken is none.
func TestUnfit(t *testing.T) {
	var mux etw.Mux
	a := New(&mux)
	s := testtrace.NewScript(t, &mux)
	s.Starts(1e17)
	zone := etw.MakeUTF16(strings.Repeat("\x00", 32))
	s.Event(0, -1, &kernel.EventTraceHeaderV2{EndTime: 1e17 + 1e7, TimeZoneStandardName: zone, TimeZoneDaylightName: zone})
	for _, ticks := range []uint64{1e6, 1 << 62, 0} {
		s.Event(5*time.Millisecond, -1, &kernel.DiskIoReadV3{Irp: 9, TransferSize: 1, HighResResponseTime: ticks})
	}
	if res := a.Result(); res.Unfit != 1 || res.Operations != 3 || res.Time != 1e6 || res.Busy != 1e6 {
		t.Errorf("%+v", res)
	}
}
