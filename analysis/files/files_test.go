package files

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Operations have the stacks of where they were asked for, and the files that the trace
// names at its end. Their sums are those of the tables of files.
func TestFiles(t *testing.T) {
	var mux etw.Mux
	f, a := system.FilesOf(&mux), New(&mux)
	s := testtrace.NewScript(t, &mux)
	event := func(ms int, thread int64, stack byte, e etw.Event) {
		s.Stack = etw.Stack{}
		if stack > 0 {
			s.Stack = testtrace.AStack(stack)
		}
		s.Event(time.Duration(ms)*time.Millisecond, thread, e)
	}
	event(1, 7, 5, &kernel.FileIoCreateV3{IrpPtr: 1, FileObject: 0xe, TTID: 7, OpenPath: etw.MakeUTF16(`\Device\x\new.txt`)})
	event(2, -1, 0, &kernel.FileIoOperationEndV3{IrpPtr: 1})
	event(3, 7, 5, &kernel.FileIoWriteV3{IrpPtr: 2, FileObject: 0xe, FileKey: 0xb, TTID: 7, IoSize: 512})
	event(4, 7, 6, &kernel.FileIoReadV3{IrpPtr: 3, FileKey: 0xa, TTID: 8, IoSize: 4096}) // of another thread
	event(6, -1, 0, &kernel.FileIoOperationEndV3{IrpPtr: 3})
	event(7, -1, 0, &kernel.FileIoOperationEndV3{IrpPtr: 2})
	event(8, -1, 0, &kernel.FileIoOperationEndV3{IrpPtr: 2}) // of nothing
	event(9, 7, 0, &kernel.FileIoRenameV3{IrpPtr: 4, FileKey: 0xa, TTID: math.MaxUint32})
	event(10, -1, 0, &kernel.FileIoFileRundownV2{FileObject: 0xa, FileName: etw.MakeUTF16(`\Device\x\data.bin`)})
	samples, res := a.Samples()[0], a.Result()
	var got []string
	for x := range samples.All() {
		got = append(got, fmt.Sprint(x.Process, x.Thread, samples.Stack(x.Stack), x.Labels, x.Values))
	}
	want := []string{
		`1 7 [5] [{op open} {file \Device\x\new.txt}] [1 1000000]`,
		`1 7 [5] [{op write} {file \Device\x\new.txt}] [1 4000000]`,
		`-1 8 [6] [{op read} {file \Device\x\data.bin}] [1 2000000]`,
		`1 7 [] [{op rename} {file \Device\x\data.bin}] [1 0]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (Result{Operations: 4, Open: 1, Stacks: 3, Read: 4096, Written: 512, Time: 7e6}); *res != want {
		t.Errorf("got %+v, want %+v", res, want)
	}
	var operations, moved uint64
	ms := 0.0
	for _, row := range f.Result().Files {
		operations += row.Opens + row.Reads + row.Writes + row.Others
		moved += row.BytesRead + row.BytesWritten
		ms += row.MS
	}
	if operations != uint64(res.Operations) || moved != res.Read+res.Written || math.Abs(ms-float64(res.Time)/1e6) > 1e-6 {
		t.Errorf("%+v; the tables have %d operations, %d bytes, %v ms", res, operations, moved, ms)
	}
}

// Operations that have manifests count as the classic ones do, and once where both tell. The
// sums are those of the tables of files.
func TestProvided(t *testing.T) {
	for _, both := range []bool{false, true} {
		var mux etw.Mux
		f, a := system.FilesOf(&mux), New(&mux)
		s := testtrace.NewScript(t, &mux)
		event := func(ms int, stack byte, e etw.Event) {
			s.Stack = etw.Stack{}
			if stack > 0 {
				s.Stack = testtrace.AStack(stack)
			}
			s.Event(time.Duration(ms)*time.Millisecond, 7, e)
		}
		event(1, 5, &file.CreateV1{Irp: 1, FileObject: 0xe, IssuingThreadID: 7, FileName: etw.MakeUTF16(`\Device\x\new file.txt`)})
		event(2, 0, &file.OperationEnd{Irp: 1})
		event(3, 6, &file.WriteV1{Irp: 2, FileObject: 0xe, FileKey: 0xb, IssuingThreadID: 7, IOSize: 512})
		event(4, 6, &file.ReadV1{Irp: 3, FileObject: 0xf, FileKey: 0xa, IssuingThreadID: 7, IOSize: 4096})
		if both {
			event(4, 9, &kernel.FileIoReadV3{IrpPtr: 3, FileObject: 0xf, FileKey: 0xa, TTID: 7, IoSize: 4096})
			event(6, 0, &kernel.FileIoOperationEndV3{IrpPtr: 3})
		}
		event(6, 0, &file.OperationEnd{Irp: 3})
		event(7, 0, &file.OperationEnd{Irp: 2})
		event(8, 0, &file.FsctlV1{Irp: 4, FileKey: 0xa})
		event(9, 0, &file.NameDelete{FileKey: 0xa, FileName: etw.MakeUTF16(`\Device\x\data.bin`)})
		samples, res := a.Samples()[0], a.Result()
		var got []string
		for x := range samples.All() {
			got = append(got, fmt.Sprint(x.Process, x.Thread, samples.Stack(x.Stack), x.Labels, x.Values))
		}
		want := []string{
			`1 7 [5] [{op open} {file \Device\x\new file.txt}] [1 1000000]`,
			`1 7 [6] [{op write} {file \Device\x\new file.txt}] [1 4000000]`,
			`1 7 [6] [{op read} {file \Device\x\data.bin}] [1 2000000]`,
			`1 7 [] [{op control} {file \Device\x\data.bin}] [1 0]`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", both, diff)
		}
		if want := (Result{Operations: 4, Open: 1, Stacks: 3, Read: 4096, Written: 512, Time: 7e6}); *res != want {
			t.Errorf("%v: got %+v, want %+v", both, res, want)
		}
		operations := uint64(0)
		for _, row := range f.Result().Files {
			operations += row.Operations()
		}
		if operations != uint64(res.Operations) {
			t.Errorf("%v: the tables have %d operations, want %d", both, operations, res.Operations)
		}
	}
}
