package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A chanceMachine is one of two processors that does by chance as threads do: they run, wait, are woken by each
// other and by devices, are created and end, and ask for files and disks; and one number is that of two programs.
type chanceMachine struct {
	kernelLog
	random *rand.Rand
	now    float64
	runs   [2]uint32
	ready  []uint32
	waits  []uint32
	owner  map[uint32]uint32 // the process of a thread
	asked  []etw.Pointer
	irp    etw.Pointer
	disks  []onDisk
	opened []etw.Pointer // files that are open, and that only this names
	memory []allocated
	lossy  bool
}

// An allocated is memory, or a handle, of a kind that is not given back so far.
type allocated struct {
	kind int
	at   etw.Pointer
	tid  uint32
}

// An onDisk is a request to a disk without an answer so far.
type onDisk struct {
	irp  etw.Pointer
	tid  uint32
	disk uint32
	at   float64
}

// event logs an event of the kernel that is of no process.
func (m *chanceMachine) event(cpu int, e etw.Event) { m.log(m.now, -1, -1, int32(cpu), e) }

// of logs an event of a thread.
func (m *chanceMachine) of(tid uint32, cpu int, e etw.Event) {
	m.log(m.now, int64(m.owner[tid]), int64(tid), int32(cpu), e)
}

func (m *chanceMachine) starts(cpu int, pid, parent uint32, name string, threads ...uint32) {
	m.event(cpu, &kernel.ProcessStartV4{ProcessID: pid, ParentID: parent, ImageFileName: etw.ANSI(name)})
	for _, tid := range threads {
		m.event(cpu, &kernel.ThreadStartV3{ProcessID: pid, TThreadID: tid})
		m.owner[tid] = pid
		m.now += 0.01
		m.event(cpu, &kernel.ThreadReadyThreadV2{TThreadID: tid})
		m.ready = append(m.ready, tid)
	}
}

// turns has a processor go to another thread, or to none.
func (m *chanceMachine) turns(cpu int) {
	old, fresh := m.runs[cpu], uint32(0)
	if n := len(m.ready); n > 0 && m.random.IntN(8) > 0 {
		i := m.random.IntN(n)
		fresh = m.ready[i]
		m.ready = slices.Delete(m.ready, i, i+1)
	}
	if old == fresh {
		return
	}
	e := &kernel.ThreadCSwitchV4{OldThreadID: old, NewThreadID: fresh, OldThreadState: kernel.ThreadStateWaiting, OldThreadWaitReason: 4}
	switch {
	case old == 0:
	case m.random.IntN(3) == 0:
		e.OldThreadState = kernel.ThreadStateReady
		m.ready = append(m.ready, old)
	default:
		m.waits = append(m.waits, old)
	}
	if m.runs[cpu] = fresh; !m.lossy || m.random.IntN(25) > 0 {
		m.of(fresh, cpu, e)
	}
}

// step has one thing happen on a processor.
func (m *chanceMachine) step() {
	m.now += 0.05 + m.random.Float64()/2
	cpu := m.random.IntN(2)
	switch n := m.random.IntN(14); {
	case n >= 13:
		m.fileStep(m.runs[cpu], cpu)
	case n >= 12:
		m.memoryStep(m.runs[cpu], cpu)
	case n >= 10:
		m.diskStep(cpu)
	case n < 5:
		m.turns(cpu)
	case n < 7 && len(m.waits) > 0:
		i := m.random.IntN(len(m.waits))
		m.event(cpu, &kernel.ThreadReadyThreadV2{TThreadID: m.waits[i]})
		m.ready = append(m.ready, m.waits[i])
		m.waits = slices.Delete(m.waits, i, i+1)
	case n < 8 && m.runs[cpu] != 0:
		m.irp++
		m.asked = append(m.asked, m.irp)
		m.of(m.runs[cpu], cpu, &kernel.FileIoWriteV3{IrpPtr: m.irp, FileKey: 0xf1, TTID: m.runs[cpu], IoSize: 512})
	case n < 9 && len(m.asked) > 0:
		m.event(cpu, &kernel.FileIoOperationEndV3{IrpPtr: m.asked[0]})
		m.asked = m.asked[1:]
	default:
		m.of(m.runs[cpu], cpu, &kernel.PerfInfoSampleV2{InstructionPointer: 0x7ff600001000, ThreadID: m.runs[cpu], Count: 1})
	}
}

// diskStep has a disk be asked, or answer any of the requests. Of some nothing tells that they were asked,
// and one disk is told of by the provider with a manifest.
func (m *chanceMachine) diskStep(cpu int) {
	if n := len(m.disks); n > 0 && m.random.IntN(12) < n {
		i := m.random.IntN(n)
		x := m.disks[i]
		took := uint64(at(m.now, etw.Record{}).Timestamp - at(x.at, etw.Record{}).Timestamp)
		if x.disk == 2 {
			m.of(x.tid, cpu, &disk.Write{DiskNumber: 2, TransferSize: 4096, FileObject: 0xf1, IORequestPacket: x.irp, HighResResponseTime: took})
		} else {
			m.event(cpu, &kernel.DiskIoReadV3{DiskNumber: x.disk, TransferSize: 512, FileObject: 0xf1, Irp: x.irp, HighResResponseTime: took, IssuingThreadID: x.tid})
		}
		m.disks = slices.Delete(m.disks, i, i+1)
		return
	}
	if tid := m.runs[cpu]; tid != 0 {
		m.irp++
		x := onDisk{m.irp, tid, uint32(m.random.IntN(3)), m.now}
		if x.disk == 0 {
			m.of(tid, cpu, &kernel.DiskIoReadInitV3{Irp: x.irp, IssuingThreadID: tid})
		}
		m.disks = append(m.disks, x)
	}
}

// fileStep has a thread open a file, or use or close one that any has opened.
func (m *chanceMachine) fileStep(tid uint32, cpu int) {
	if tid == 0 {
		return
	}
	m.irp++
	n := len(m.opened)
	if n == 0 || m.random.IntN(6) == 0 {
		object := 0xa000 + m.irp
		m.opened = append(m.opened, object)
		m.of(tid, cpu, &kernel.FileIoCreateV3{IrpPtr: m.irp, FileObject: object, TTID: tid, OpenPath: etw.MakeUTF16(fmt.Sprintf(`\Device\HarddiskVolume1\%x.log`, object))})
	} else if i := m.random.IntN(n); m.random.IntN(6) == 0 {
		m.of(tid, cpu, &kernel.FileIoCloseV3{IrpPtr: m.irp, FileObject: m.opened[i], FileKey: m.opened[i] + 0x10000, TTID: tid})
		m.opened = slices.Delete(m.opened, i, i+1)
	} else {
		m.of(tid, cpu, &kernel.FileIoReadV3{IrpPtr: m.irp, FileObject: m.opened[i], FileKey: m.opened[i] + 0x10000, TTID: tid, IoSize: 64})
	}
	m.asked = append(m.asked, m.irp)
}

// memoryStep has a thread allocate memory or a handle, or its process give back or move some.
func (m *chanceMachine) memoryStep(tid uint32, cpu int) {
	i := slices.IndexFunc(m.memory, func(x allocated) bool { return m.owner[x.tid] == m.owner[tid] })
	switch {
	case tid == 0:
	case i < 0 || m.random.IntN(2) == 0:
		m.irp++
		x := allocated{m.random.IntN(4), m.irp << 16, tid}
		m.memory = append(m.memory, x)
		m.of(tid, cpu, []etw.Event{
			&kernel.PageFaultVirtualAllocV2{BaseAddress: x.at, RegionSize: 4096, ProcessID: m.owner[tid], Flags: kernel.VirtualAllocFlagsMemCommit},
			&kernel.HeapAllocV2{HeapHandle: 0xa, AllocSize: 100, AllocAddress: x.at},
			&kernel.PoolAllocationV2{Tag: 7, NumberOfBytes: 64, Entry: x.at},
			&kernel.ObjectCreateHandleV2{Handle: uint32(m.irp)},
		}[x.kind])
	default:
		x := &m.memory[i]
		if x.kind == 1 && m.random.IntN(2) == 0 {
			m.of(tid, cpu, &kernel.HeapReAllocV2{HeapHandle: 0xa, OldAllocAddress: x.at, OldAllocSize: 100, NewAllocAddress: x.at + 16, NewAllocSize: 110})
			x.at += 16
			return
		}
		m.of(tid, cpu, []etw.Event{
			&kernel.PageFaultVirtualFreeV2{BaseAddress: x.at, RegionSize: 4096, ProcessID: m.owner[tid], Flags: kernel.VirtualAllocFlagsMemRelease},
			&kernel.HeapFreeV2{HeapHandle: 0xa, FreeAddress: x.at},
			&kernel.PoolFreeV2{Tag: 7, NumberOfBytes: 64, Entry: x.at},
			&kernel.ObjectCloseHandleV2{Handle: uint32(x.at >> 16)},
		}[x.kind])
		m.memory = slices.Delete(m.memory, i, i+1)
	}
}

// ends has all threads of a process end.
func (m *chanceMachine) ends(pid uint32, name string) {
	gone := func(tid uint32) bool { return m.owner[tid] == pid }
	for cpu, tid := range m.runs {
		if gone(tid) {
			m.of(0, cpu, &kernel.ThreadCSwitchV4{OldThreadID: tid, OldThreadState: kernel.ThreadStateTerminated})
			m.runs[cpu] = 0
		}
	}
	for tid := range uint32(100) {
		if gone(tid) {
			m.event(0, &kernel.ThreadStopV3{ProcessID: pid, TThreadID: tid})
		}
	}
	m.ready, m.waits = slices.DeleteFunc(m.ready, gone), slices.DeleteFunc(m.waits, gone)
	m.event(0, &kernel.ProcessStopV4{ProcessID: pid, ImageFileName: etw.ANSI(name)})
}

// The losses of a trace: none, of switches, and of its end.
const (
	allThere = iota
	someLost
	cutOff
	losses
)

// chanceTrace returns the trace of a machine.
func chanceTrace(t *testing.T, seed uint64, loss int) string {
	m := &chanceMachine{random: rand.New(rand.NewPCG(seed, 7)), owner: make(map[uint32]uint32), irp: 0x1000, lossy: loss == someLost}
	m.event(0, &kernel.PerfInfoCollectionStartV2{NewInterval: 10000, OldInterval: 10000})
	m.event(0, &kernel.ProcessDCStartV4{ProcessID: 10, ImageFileName: etw.ANSI("spins.exe")})
	m.event(0, &kernel.FileIoNameV2{FileObject: 0xf1, FileName: etw.MakeUTF16(`\Device\HarddiskVolume1\a.txt`)})
	for _, tid := range []uint32{11, 12} {
		m.event(0, &kernel.ThreadDCStartV3{ProcessID: 10, TThreadID: tid})
		m.ready, m.owner[tid] = append(m.ready, tid), 10
	}
	m.starts(0, 20, 10, "first.exe", 21, 22)
	m.starts(1, 30, 10, "other.exe", 31, 32, 33)
	for range 400 {
		m.step()
	}
	m.ends(20, "first.exe")
	for range 50 {
		m.step()
	}
	m.starts(1, 20, 30, "second.exe", 21, 23)
	for range 400 {
		m.step()
	}
	m.lossy = false
	for i := range 40 { // one spins to the end
		m.now += 1
		if at := slices.Index(m.ready, 11); i == 0 && at >= 0 {
			m.of(11, 0, &kernel.ThreadCSwitchV4{OldThreadID: m.runs[0], NewThreadID: 11, OldThreadState: kernel.ThreadStateWaiting})
			m.runs[0], m.ready = 11, slices.Delete(m.ready, at, at+1)
		}
		m.turns(1)
		m.of(m.runs[1], 1, &kernel.PerfInfoSampleV2{InstructionPointer: 0x7ff600001000, ThreadID: m.runs[1], Count: 1})
	}
	h := header()
	if loss == someLost {
		h.EventsLost = 30
	}
	data, err := etltest.File(h, m.records...)
	if err != nil || m.err != nil {
		t.Fatal(err, m.err)
	}
	if loss == cutOff {
		data = data[:len(data)*3/4]
	}
	path := filepath.Join(t.TempDir(), "made.etl")
	testio.Write(t, path, data)
	return path
}

// chancePicks returns flags that choose parts by chance.
func chancePicks(seed uint64) (list []string) {
	random := rand.New(rand.NewPCG(seed, 11))
	for range 3 {
		from := 20 + random.IntN(150)
		window := fmt.Sprintf("--from %d --to %d", from, from+5+random.IntN(60))
		tid := []int{11, 12, 31, 32, 33}[random.IntN(5)]
		list = append(list, window, fmt.Sprintf("--tid %d %s", tid, window), fmt.Sprintf("--process %d %s", 10+20*random.IntN(2), window))
	}
	return list
}

// TestPartsOfMade has every part of machines that do by chance what threads do answer as the whole.
func TestPartsOfMade(t *testing.T) {
	asked := []string{"threads", "threads --by switch", "waits", "waits --path", "top", "top --of blocked", "top --by thread", "processes", "files", "files --disks", "files --disks --by access", "top --of files", "timeline",
		"top --of virtual-memory", "top --of native-heap", "top --of os-handles", "top --of pool"}
	chosen := []string{"--process spins", "--process first", "--process second", "--process 30", "--tid 11", "--from 60 --to 130", "--from 200", "--process other --from 60 --to 130", "--process spins --from 150", "--tid 31 --to 150"}
	for seed := range uint64(6 / corpus.Every(2)) {
		loss := int(seed % losses)
		whole := chanceTrace(t, seed, loss)
		for _, flags := range append(chancePicks(seed), chosen...) {
			part, flags := filepath.Join(t.TempDir(), "part.etl"), strings.Fields(flags)
			said, code := filtered(slices.Concat(flags, []string{"-o", part, whole})...)
			if code != 0 && loss == allThere {
				t.Fatalf("%q: exit code %d: %s", flags, code, said)
			}
			rows := 0
			for _, ask := range asked {
				want, wholeSaid, wholeCode := partAnswer(ask, whole, flags...)
				got, said, code := partAnswer(ask, part)
				if rows += strings.Count(want, "\n"); strings.Count(want, "\n") > 1 && (got != want || code != wholeCode) {
					t.Errorf("machine %d, %q, %s: codes %d and %d, %s%s%s", seed, flags, ask, code, wholeCode, said, wholeSaid, unlike(got, want))
				}
			}
			if rows < len(asked)/2 {
				t.Errorf("machine %d, %q: %d rows", seed, flags, rows)
			}
		}
	}
}

// unlike returns the first lines of a part's answer that those of the whole are not.
func unlike(part, whole string) string {
	a, b := strings.Split(part, "\n"), strings.Split(whole, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: of the part\n%s\nof the whole\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines of the part, %d of the whole", len(a), len(b))
}

// TestPartOfSeveral has filter say that a part of several files lacks the switches of others.
func TestPartOfSeveral(t *testing.T) {
	one, two := chanceTrace(t, 0, allThere), chanceTrace(t, 3, allThere)
	for _, c := range []struct {
		traces []string
		want   bool
	}{{[]string{one}, false}, {[]string{one, two}, true}} {
		out, stderr, _ := output(slices.Concat([]string{"filter", "--process", "10", "-o", filepath.Join(t.TempDir(), "part.etl")}, c.traces)...)
		if got := strings.Contains(out, "but for times that context switches of other threads tell"); got != c.want {
			t.Errorf("%d traces: %s%s", len(c.traces), out, stderr)
		}
	}
}
