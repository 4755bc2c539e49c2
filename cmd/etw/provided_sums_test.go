package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/generated/windows/registry"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// apart is the time between two events of a made machine: more than between two events that
// tell of one fact.
const apart = 2 * time.Millisecond

// rows are those that tables should have, by the keys of documents, each with its numbers.
type rows map[string]map[string]float64

func (r rows) add(key, name string, n float64) {
	if r[key] == nil {
		r[key] = make(map[string]float64)
	}
	r[key][name] += n
}

// A madeProcess is a process of a made machine that runs.
type madeProcess struct {
	pid    uint32
	key    string
	images [][2]etw.Pointer // base and size
	tids   []uint32
}

// A madeMachine makes events that the kernel's providers with manifests log, at random, and
// adds up what tables should have of them.
type madeMachine struct {
	*rand.Rand
	events    []etw.Event
	live      []*madeProcess
	processes rows
	images    rows
	traffic   rows
	disks     rows
	power     rows
	slept     float64 // when it fell asleep; 0 if it is awake
	next      uint32
}

func (m *madeMachine) any() *madeProcess { return m.live[m.IntN(len(m.live))] }

// log logs an event, and returns its time in milliseconds.
func (m *madeMachine) log(e etw.Event) float64 {
	m.events = append(m.events, e)
	return float64(len(m.events)-1) * float64(apart) / float64(time.Millisecond)
}

func (m *madeMachine) start() {
	m.next += 4
	pid := m.next
	if m.IntN(3) == 0 { // a number that ended before is there again
		pid = 4 * (1 + m.Uint32N(m.next/4))
	}
	if slices.ContainsFunc(m.live, func(p *madeProcess) bool { return p.pid == pid }) {
		return
	}
	parent, name := m.any().pid, fmt.Sprintf("some program %d.exe", m.IntN(5))
	at := m.log(&process.StartV1{ProcessID: pid, ParentProcessID: parent, SessionID: 1, ImageName: etw.MakeUTF16(`\Device\HarddiskVolume2\Program Files (x86)\` + name)})
	p := &madeProcess{pid: pid, key: fmt.Sprint(pid, " ", parent, " ", name, " ", at)}
	m.processes.add(p.key, "threads", 0)
	m.live = append(m.live, p)
}

func (m *madeMachine) stop() {
	i := 1 + m.IntN(len(m.live)-1) // but the first
	p, code := m.live[i], m.Uint32()
	at := m.log(&process.StopV1{ProcessID: p.pid, ExitCode: code, ImageName: etw.ANSI("some program 1")})
	m.processes.add(p.key, "exitCode", float64(code))
	m.processes.add(p.key, "endMs", at)
	m.live = slices.Delete(m.live, i, i+1)
}

func (m *madeMachine) thread() {
	p := m.any()
	if len(p.tids) > 0 && m.IntN(2) == 0 {
		m.log(&process.ThreadStop{ProcessID: p.pid, ThreadID: p.tids[0]})
		p.tids = p.tids[1:]
		return
	}
	m.next += 4
	m.log(&process.ThreadStart{ProcessID: p.pid, ThreadID: m.next})
	p.tids = append(p.tids, m.next)
	m.processes.add(p.key, "threads", 1)
}

func (m *madeMachine) image() {
	p := m.any()
	key := func(i [2]etw.Pointer) string { return fmt.Sprintf("%d 0x%x", p.pid, uint64(i[0])) }
	if len(p.images) > 0 && m.IntN(2) == 0 {
		i := p.images[0]
		p.images = p.images[1:]
		m.images.add(key(i), "unloadMs", m.log(&process.ImageUnload{ProcessID: p.pid, ImageBase: i[0], ImageSize: i[1]}))
		return
	}
	m.next += 4
	i := [2]etw.Pointer{etw.Pointer(m.next) << 14, etw.Pointer(m.IntN(1 << 14))}
	at := m.log(&process.ImageLoad{ProcessID: p.pid, ImageBase: i[0], ImageSize: i[1], ImageName: etw.MakeUTF16(`\Device\HarddiskVolume2\a b.dll`)})
	p.images = append(p.images, i)
	m.images.add(key(i), "size", float64(i[1]))
	m.images.add(key(i), "loadMs", at)
	m.processes.add(p.key, "images", 1)
}

// transfer logs an event of the network, among a few addresses.
func (m *madeMachine) transfer() {
	p, size, six, udp := m.any(), m.Uint32N(1<<20), m.IntN(2) == 0, false
	here, there := [16]byte{0xfe, 0x80, 15: 1}, [16]byte{0x20, 1, 15: byte(m.IntN(2))}
	ports := [2]uint16{uint16(50000 + m.IntN(2)), 443}
	swapped := func(port uint16) uint16 { return port<<8 | port>>8 }
	local, remote := netip.AddrFrom16(here), netip.AddrFrom16(there)
	v4 := [2]uint32{0x0100000a, 0x0200000a + m.Uint32N(2)<<24}
	if !six {
		local, remote = netip.AddrFrom4([4]byte{10, 0, 0, 1}), netip.AddrFrom4([4]byte{10, 0, 0, byte(v4[1] >> 24)})
	}
	s, d := swapped(ports[0]), swapped(ports[1])
	count, bytes := "", ""
	var e etw.Event
	switch kind := m.IntN(8); {
	case kind == 0 && six:
		e, count, bytes = &network.TCPSendIPv6{PID: p.pid, Size: size, Saddr: here[:], Daddr: there[:], Sport: s, Dport: d}, "sent", "bytesSent"
	case kind == 0:
		e, count, bytes = &network.TCPSend{PID: p.pid, Size: size, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "sent", "bytesSent"
	case kind == 1 && six:
		e, count, bytes = &network.TCPReceiveIPv6{PID: p.pid, Size: size, Saddr: here[:], Daddr: there[:], Sport: s, Dport: d}, "received", "bytesReceived"
	case kind == 1:
		e, count, bytes = &network.TCPReceive{PID: p.pid, Size: size, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "received", "bytesReceived"
	case kind == 2 && six:
		e, count, bytes, udp = &network.UDPSendIPv6{PID: p.pid, Size: size, Saddr: here[:], Daddr: there[:], Sport: s, Dport: d}, "sent", "bytesSent", true
	case kind == 2:
		e, count, bytes, udp = &network.UDPSend{PID: p.pid, Size: size, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "sent", "bytesSent", true
	case kind == 3 && six: // what UDP received names the sides the other way round
		e, count, bytes, udp = &network.UDPReceiveIPv6{PID: p.pid, Size: size, Saddr: there[:], Daddr: here[:], Sport: d, Dport: s}, "received", "bytesReceived", true
	case kind == 3:
		e, count, bytes, udp = &network.UDPReceive{PID: p.pid, Size: size, Saddr: v4[1], Daddr: v4[0], Sport: d, Dport: s}, "received", "bytesReceived", true
	case kind == 4:
		e, count, local, remote = &network.TCPConnect{PID: p.pid, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "connects", netip.AddrFrom4([4]byte{10, 0, 0, 1}), netip.AddrFrom4([4]byte{10, 0, 0, byte(v4[1] >> 24)})
	case kind == 5 && six:
		e, count = &network.TCPAcceptIPv6{PID: p.pid, Saddr: here[:], Daddr: there[:], Sport: s, Dport: d}, "accepts"
	case kind == 5:
		e, count = &network.TCPAccept{PID: p.pid, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "accepts"
	case kind == 6 && six:
		e, count = &network.TCPDisconnectIPv6{PID: p.pid, Saddr: here[:], Daddr: there[:], Sport: s, Dport: d}, "disconnects"
	case kind == 6:
		e, count = &network.TCPDisconnect{PID: p.pid, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "disconnects"
	case six:
		e, count = &network.TCPRetransmitIPv6{PID: p.pid, Saddr: here[:], Daddr: there[:], Sport: s, Dport: d}, "retransmits"
	default:
		e, count = &network.TCPRetransmit{PID: p.pid, Saddr: v4[0], Daddr: v4[1], Sport: s, Dport: d}, "retransmits"
	}
	m.log(e)
	protocol := "tcp"
	if udp {
		protocol = "udp"
	}
	key := fmt.Sprint(p.pid, " ", protocol, " ", netip.AddrPortFrom(local, ports[0]), " ", netip.AddrPortFrom(remote, ports[1]))
	m.traffic.add(key, count, 1)
	if bytes != "" {
		m.traffic.add(key, bytes, float64(size))
	}
}

func (m *madeMachine) operation() {
	number, size, took := m.Uint32N(2), m.Uint32N(1<<20), uint64(m.IntN(1e6))
	key := fmt.Sprint(number)
	switch m.IntN(3) {
	case 0:
		m.log(&disk.Read{DiskNumber: number, TransferSize: size, HighResResponseTime: took})
		m.disks.add(key, "reads", 1)
		m.disks.add(key, "bytesRead", float64(size))
	case 1:
		m.log(&disk.Write{DiskNumber: number, TransferSize: size, HighResResponseTime: took})
		m.disks.add(key, "writes", 1)
		m.disks.add(key, "bytesWritten", float64(size))
	default:
		m.log(&disk.Flush{DiskNumber: number, HighResResponseTime: took})
		m.disks.add(key, "flushes", 1)
	}
	m.disks.add(key, "ms", float64(took)/1e4)
}

// makeMachine makes the events of a seed. The first process was there before.
// sleep has the machine fall asleep, or wake up.
func (m *madeMachine) sleep() {
	if m.slept == 0 {
		m.slept = m.log(&power.PreSleepNotificationV3{TargetState: 4, EffectiveState: 4, Reason: 7})
		m.power.add("sleep (S3) idle", "ms", 0)
		return
	}
	m.power.add("sleep (S3) idle", "ms", m.log(&power.PostSleepNotificationV1{TargetState: 4, EffectiveState: 4, WakeFromState: 4})-m.slept)
	m.slept = 0
}

func makeMachine(seed uint64) *madeMachine {
	m := &madeMachine{Rand: rand.New(rand.NewPCG(seed, 49)), processes: make(rows), images: make(rows), traffic: make(rows), disks: make(rows), power: make(rows), next: 4}
	m.log(&process.Rundown{ProcessID: 4, ParentProcessID: 0, ImageName: etw.MakeUTF16("System")})
	m.live = []*madeProcess{{pid: 4, key: "4 0 System <nil>"}}
	m.processes.add(m.live[0].key, "threads", 0)
	for len(m.events) < 400 {
		switch n := m.IntN(20); {
		case n < 2:
			m.start()
		case n == 2 && len(m.live) > 1:
			m.stop()
		case n < 6:
			m.thread()
		case n < 9:
			m.image()
		case n < 11:
			m.operation()
		case n == 11:
			m.sleep()
		default:
			m.transfer()
		}
	}
	return m
}

// tableOf asks a command for its rows, by the values of keys, and takes the numbers that are
// wanted; those that are 0 count as those that are not there.
func tableOf(t *testing.T, command, list, path string, keys, numbers []string) rows {
	t.Helper()
	out, errs, code := output(command+" --json", path)
	var doc map[string]json.RawMessage
	var found []map[string]any
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%s: code %d, %v: %s", command, code, err, errs)
	}
	testio.JSON(t, doc[list], &found)
	got := make(rows)
	for _, row := range found {
		part, inner := row, row["disks"]
		if disks, ok := inner.([]any); ok {
			for _, d := range disks {
				part = d.(map[string]any)
				got.addAll(part, keys, numbers)
			}
			continue
		}
		got.addAll(part, keys, numbers)
	}
	return got
}

func (r rows) addAll(row map[string]any, keys, numbers []string) {
	var key []string
	for _, k := range keys {
		key = append(key, fmt.Sprint(row[k]))
	}
	for _, name := range numbers {
		n, _ := row[name].(float64)
		r.add(strings.Join(key, " "), name, n)
	}
}

// same reports in which rows two tables differ.
func (r rows) same(t *testing.T, title string, got rows) {
	t.Helper()
	for key := range got {
		if r[key] == nil {
			t.Errorf("%s: %s: %v in no event", title, key, got[key])
		}
	}
	for key, want := range r {
		both := maps.Clone(want)
		maps.Copy(both, got[key])
		for name := range both {
			if d := want[name] - got[key][name]; math.Abs(d) > 1e-6 {
				t.Errorf("%s: %s: %s %v, want %v", title, key, name, got[key][name], want[name])
			}
		}
	}
}

// TestProvidedSums has the tables of made machines be the sums of their events: which are
// those of Windows' providers with manifests alone, of programs of both sizes of pointers.
func TestProvidedSums(t *testing.T) {
	seeds := uint64(4)
	if os.Getenv("ETWGEN_TESTS") == "all" {
		seeds = 200
	}
	for seed := range seeds {
		m := makeMachine(seed)
		path := etlOf(t, [...]etw.PtrSize{etw.Ptr64, etw.Ptr32}[seed%2], 4, apart, m.events)
		title := func(of string) string { return fmt.Sprintf("seed %d, %s", seed, of) }
		m.processes.same(t, title("processes"), tableOf(t, "processes", "processes", path, []string{"pid", "parentPid", "name", "startMs"}, []string{"threads", "images", "exitCode", "endMs"}))
		m.images.same(t, title("images"), tableOf(t, "processes --images", "images", path, []string{"pid", "base"}, []string{"size", "loadMs", "unloadMs"}))
		m.traffic.same(t, title("network"), tableOf(t, "network", "connections", path, []string{"pid", "protocol", "local", "remote"},
			[]string{"sent", "bytesSent", "received", "bytesReceived", "connects", "accepts", "disconnects", "retransmits"}))
		m.power.same(t, title("power"), tableOf(t, "processes --by power", "rows", path, []string{"state", "reason"}, []string{"ms"}))
		m.disks.same(t, title("disks"), tableOf(t, "files --disks", "files", path, []string{"disk"}, []string{"reads", "bytesRead", "writes", "bytesWritten", "flushes", "ms"}))
	}
}

// TestUnread has answers that a trace does not have name the events that are there.
func TestUnread(t *testing.T) {
	path := etlOf(t, etw.Ptr64, 4, apart, []etw.Event{&registry.DeleteKey{}, &registry.DeleteKey{}, &power.AcDcStateChange{}, &disk.Flush{}})
	for _, c := range []string{"network", "files", "processes --images", "threads"} {
		_, said, code := output(c, path)
		if want := "events that no answer is of, and dump shows: 2 events of Microsoft-Windows-Kernel-Registry"; code != 5 || !strings.Contains(said, want) || strings.Contains(said, "Kernel-Disk") || strings.Contains(said, "Kernel-Power") {
			t.Errorf("%s: code %d: %s", c, code, said)
		}
	}
}
