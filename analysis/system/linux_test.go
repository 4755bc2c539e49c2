package system

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A recorder of Linux that writes the events of a test.
type recorder struct {
	t   *testing.T
	m   *Machine
	clk etw.Clock
}

func newRecorder(t *testing.T) *recorder {
	return &recorder{t: t, m: Of(new(etw.Mux)), clk: etw.Clock{Frequency: 1e9}}
}

// tell gives an event of Universal.System to the machine.
func (x *recorder) tell(pid, at int64, e etw.Event) {
	x.t.Helper()
	p := testio.Payload(x.t, e, etw.Ptr64)
	x.take(&etw.Record{ProviderName: linuxSystem, Schema: e.EventDesc(), ProcessID: pid, Timestamp: at, Payload: p})
}

func (x *recorder) take(r *etw.Record) {
	x.t.Helper()
	r.Clock, r.PointerSize = &x.clk, etw.Ptr64
	if err := x.m.record(r); err != nil {
		x.t.Fatal(err)
	}
}

// sample is a sample of a thread.
func (x *recorder) sample(pid, tid, at int64) {
	x.take(&etw.Record{ProviderName: linuxEvents, Schema: &etw.EventDesc{Name: "cpu", Fields: []etw.FieldDesc{{Name: "Value", Type: etw.InVarUint}}}, ProcessID: pid, ThreadID: tid,
		Timestamp: at, Payload: []byte{1}})
}

// fork is an event of the kernel: of a thread that it numbers differently.
func (x *recorder) fork(pid, tid, at int64, kernels, child uint32) {
	p := append(binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, kernels), 24, 0, 3, 0)
	p = binary.LittleEndian.AppendUint32(p, kernels)
	p = binary.LittleEndian.AppendUint32(append(p, 24, 0, 3, 0), child)
	x.take(&etw.Record{ProviderName: "sched", Schema: tracepoint("sched_process_fork"), ProcessID: pid, ThreadID: tid, Timestamp: at, Payload: append(p, "sh\x00"...)})
}

// wakes is an event of a thread of which only the numbers matter.
func (x *recorder) wakes(pid, tid, at int64, kernels uint32) {
	x.take(&etw.Record{ProviderName: "sched", Schema: tracepoint("sched_waking"), ProcessID: pid, ThreadID: tid, Timestamp: at,
		Payload: binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, kernels)})
}

func tracepoint(name string) *etw.EventDesc {
	return &etw.EventDesc{Name: name, Named: true, Fields: []etw.FieldDesc{{Name: "common_type", Type: etw.InUInt16}}}
}

func (x *recorder) mapping(pid, at int64, id, start, end uint64, file string) {
	m := &universal.ProcessMapping{ID: id, StartAddress: start, EndAddress: end, FileName: etw.ANSI(file), MetadataID: 1}
	m.SymbolMetadata, m.HasSymbolMetadata = etw.ANSI(""), true
	m.VersionMetadata, m.HasVersionMetadata = etw.ANSI(""), true
	x.tell(pid, at, m)
}

func (x *recorder) processes() []string {
	var list []string
	for _, p := range x.m.Result().Processes {
		line := fmt.Sprintf("%d %q parent %d start %v end %v", p.PID, p.Name, p.ParentPID, p.StartMS, p.EndMS)
		for _, e := range p.Execs {
			line += fmt.Sprintf(" was %s until %v", e.Before, e.AtMS)
		}
		list = append(list, line)
	}
	return list
}

func existing(name string) *universal.ExistingProcess {
	return &universal.ExistingProcess{Name: etw.ANSI(name)}
}

func created(name string) *universal.ProcessCreate {
	return &universal.ProcessCreate{Name: etw.ANSI(name)}
}

// Parents are known by forks, and by memory that is inherited; a name is that of the
// program that runs; the end of a thread is not that of a process.
func TestLinuxProcesses(t *testing.T) {
	const ms = 1e6
	x := newRecorder(t)
	x.mapping(7, 0, 5, 0x1000, 0x2000, "/bin/shop") // of a child, before its parent is told of
	x.mapping(2, 0, 5, 0x1000, 0x2000, "/bin/shop")
	x.tell(2, 0, existing("shop"))
	x.tell(0, 0, existing(""))
	x.fork(2, 2, 1*ms, 1002, 1003)
	x.wakes(2, 9, 1*ms, 1003) // a thread
	x.fork(2, 9, 2*ms, 1003, 1010)
	x.wakes(4, 4, 3*ms, 1010)
	x.tell(4, 4*ms, created("cake"))
	x.tell(2, 5*ms, new(universal.ProcessExit)) // a thread of it
	x.sample(2, 2, 30*ms)
	x.tell(4, 40*ms, new(universal.ProcessExit))
	x.sample(4, 4, 40*ms+1)
	x.tell(7, 50*ms, created("helper"))
	x.tell(4, 60*ms, created("other"))
	want := []string{
		`0 "(outside)" parent -1 start - end -`,
		`2 "shop" parent -1 start - end -`,
		`4 "cake" parent 2 start 2 end 40 was sh until 4`,
		`4 "other" parent -1 start 60 end -`,
		`7 "helper" parent 2 start 50 end -`,
	}
	if diff := cmp.Diff(want, x.processes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Parts of a file are one image, also such that come later or overlap; mappings of the
// parent are gone when a process runs another program.
func TestLinuxImages(t *testing.T) {
	x := newRecorder(t)
	x.tell(2, 0, existing("shop"))
	x.tell(2, 0, &universal.ProcessMappingMetadata{ID: 1, SymbolMetadata: etw.ANSI(`{"type":"ELF","build_id":"abc"}`)})
	for _, pid := range []int64{2, 4} {
		x.mapping(pid, 0, 5, 0x1000, 0x2000, "/bin/shop")
		x.mapping(pid, 0, 6, 0x2000, 0x4000, "/bin/shop")
	}
	x.mapping(2, 1e6, 7, 0x3000, 0x6000, "/bin/shop")
	x.tell(4, 2e6, created("cake"))
	x.mapping(4, 3e6, 8, 0x9000, 0xafff, "/bin/cake")
	x.mapping(4, 3e6, 9, 0xf000, 0xffff, "[vdso]")
	var got []string
	for _, i := range x.m.ImagesResult().Images {
		got = append(got, fmt.Sprintf("%d %s %v+%#x %v-%v %s", i.PID, strings.TrimPrefix(i.Path, "/bin/"), i.Base, i.Size, i.LoadMS, i.UnloadMS, i.BuildID))
	}
	want := []string{
		"2 shop 0x1000+0x5000 --- abc",
		"4 shop 0x1000+0x3000 --2 abc",
		"4 cake 0x9000+0x2000 3-- abc",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
