package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/cmd/etw/internal/live"
	"github.com/etwgen/etwgen/internal/perf"
)

// kernelStack returns a call stack as the kernel has it.
func kernelStack(list ...uint64) (b []byte) {
	for _, a := range list {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

// Numbers that no process has.
const (
	parentPID = 1<<30 + 1
	childPID  = 1<<30 + 2
)

// systemRecords are what the kernel tells of a program that starts another.
func systemRecords(take func(*perf.Record)) {
	at := int64(1000e6)
	tell := func(r perf.Record) {
		at += 1e6
		if r.TID == 0 {
			r.TID = r.PID
		}
		r.Time = at
		take(&r)
	}
	run := func(pid, tid int32, stack ...uint64) {
		tell(perf.Record{Kind: perf.Sample, PID: pid, TID: tid, Stack: kernelStack(stack...)})
	}
	tell(perf.Record{Kind: perf.Comm, PID: parentPID, Exec: true, Name: "parent"})
	tell(perf.Record{Kind: perf.Map, PID: parentPID, Start: 0x10000, Length: 0x1000, Name: "/no/such/parent", BuildID: []byte{1, 2, 3, 4}})
	run(parentPID, parentPID, 0xffffffff81000010, 0x10010)
	tell(perf.Record{Kind: perf.Fork, PID: childPID, Parent: parentPID})
	run(childPID, childPID, 0x10020)
	tell(perf.Record{Kind: perf.Comm, PID: childPID, Exec: true, Name: "child"})
	tell(perf.Record{Kind: perf.Map, PID: childPID, Start: 0x20000, Length: 0x1000, Name: "/memfd:doublemapper (deleted)"})
	run(childPID, childPID, 0x20010)
	run(childPID, childPID+1, 0x20010)
	tell(perf.Record{Kind: perf.Blocked, PID: childPID, Stack: kernelStack(0xffffffff81000020, 0x20010)})
	tell(perf.Record{Kind: perf.Blocked, PID: 0, Stack: kernelStack(0xffffffff81000020)})
	tell(perf.Record{Kind: perf.Resumed, PID: childPID})
	tell(perf.Record{Kind: perf.Resumed, PID: childPID})
	tell(perf.Record{Kind: perf.Exit, PID: childPID})
}

// writeSystem writes a universal trace of systemRecords.
func writeSystem(t *testing.T, more ...perf.Record) string {
	t.Helper()
	var out bytes.Buffer
	s, err := live.NewSystemTrace(&out, 1000e6, time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	systemRecords(s.Take)
	for i := range more {
		s.Take(&more[i])
	}
	jitted := "20000 100 void [App] Work::Hot(int32)[OptimizedTier1]\nno line\n30000 0 empty\n"
	if err := live.ReadJITMap(strings.NewReader(jitted), func(start, size uint64, name string) { s.Function(childPID, start, size, name) }); err != nil {
		t.Fatal(err)
	}
	kernel := filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(kernel, []byte("ffffffff81000018 T do_wait\nffffffff81000000 T do_work\nffffffff81000000 t alias\nffffffff81000008 d data\nffffffff81000100 T next\t[module]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.NameKernel(kernel); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "machine.nettrace")
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A systemAnswer is what is read of the answers' JSON.
type systemAnswer struct {
	Processes []struct {
		PID, Parent int64
		Name        string
		SampledMS   float64 `json:"sampledMs"`
	}
	Rows []struct {
		Method string
		Self   []int64
	}
	Facts []string
}

// output runs a command on a trace.
func askSystem(t *testing.T, args ...string) (a systemAnswer) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append(args, "--format", "json"), strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d, %s", args, code, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return a
}

// What is written, our own readers answer from: processes, and names of all code.
func TestSystemTrace(t *testing.T) {
	path := writeSystem(t)
	sampled := make(map[int64]float64)
	var names []string
	for _, p := range askSystem(t, "processes", path).Processes {
		sampled[p.PID] += p.SampledMS
		names = append(names, p.Name)
	}
	if diff := cmp.Diff(map[int64]float64{parentPID: 1, childPID: 3}, sampled); diff != "" || !slices.Equal(names, []string{"parent", "child"}) {
		t.Errorf("processes %q (-want +got):\n%s", names, diff)
	}
	self := func(of string) map[string]int64 {
		rows := make(map[string]int64)
		for _, r := range askSystem(t, "top", "--no-symbols", "--of", of, path).Rows {
			if r.Self[0] > 0 {
				rows[r.Method] = r.Self[0]
			}
		}
		return rows
	}
	if diff := cmp.Diff(map[string]int64{"vmlinux!do_work": 1, "parent!?": 1, "Work.Hot": 2}, self("cpu")); diff != "" {
		t.Errorf("cpu (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"vmlinux!do_wait": 1}, self("blocked")); diff != "" {
		t.Errorf("blocked (-want +got):\n%s", diff)
	}
}

// What was lost is counted in the file, too.
func TestSystemLost(t *testing.T) {
	path := writeSystem(t, perf.Record{Kind: perf.Lost, Count: 12})
	var stdout, stderr bytes.Buffer
	if run([]string{"info", path}, strings.NewReader(""), &stdout, &stderr); !strings.Contains(stdout.String(), "lost                 12") {
		t.Errorf("info: %s%s", stdout.String(), stderr.String())
	}
}

func TestParseArea(t *testing.T) {
	for line, want := range map[string]live.Area{
		"7f00-8000 r-xp 00001000 fe:01 1234    /usr/lib/a b.so": {Start: 0x7f00, End: 0x8000, Offset: 0x1000, Path: "/usr/lib/a b.so", Device: "fe:01 1234"},
		"7f00-8000 rw-p 00000000 00:00 0       [heap]":          {Start: 0x7f00, End: 0x8000, Path: "[heap]", Device: "00:00 0"},
		"7f00-8000 rwxp 00000000 00:00 0 ":                      {Start: 0x7f00, End: 0x8000, Device: "00:00 0"},
	} {
		got, ok := live.ParseArea(line)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(live.Area{})); diff != "" || !ok {
			t.Errorf("%q: %v (-want +got):\n%s", line, ok, diff)
		}
	}
	for _, line := range []string{"", "x", "7f00-8000 rw-p 0 fe:01 1 /data", "8000-7f00 r-xp 0 fe:01 1 /a", "7f00 r-xp 0", "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]"} {
		if got, ok := live.ParseArea(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

func TestBuildID(t *testing.T) {
	note := func(name, text string, kind uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = binary.LittleEndian.AppendUint32(b, kind)
		b = append(b, name...)
		b = append(b, make([]byte, (4-len(name)%4)%4)...)
		b = append(b, text...)
		return append(b, make([]byte, (4-len(text)%4)%4)...)
	}
	notes := append(note("Go\x00", "12345", 4), note("GNU\x00", "build id", 3)...)
	if got := string(live.BuildIDOf(notes, binary.LittleEndian)); got != "build id" {
		t.Errorf("%q", got)
	}
	for n := range notes {
		if got := live.BuildIDOf(notes[:n:n], binary.LittleEndian); got != nil {
			t.Errorf("of %d bytes: %q", n, got)
		}
	}
	if got := live.BuildIDOf(bytes.Repeat([]byte{0xff}, 64), binary.LittleEndian); got != nil {
		t.Errorf("%q", got)
	}
}

// The map of a runtime is beside its socket. One that was there before stays.
func TestJITMaps(t *testing.T) {
	dir := t.TempDir()
	for socket, want := range map[string]string{
		filepath.Join(dir, "dotnet-diagnostic-12-345-socket"): filepath.Join(dir, "perf-12.map"), "": "", "dotnet-diagnostic-x-1-socket": "",
	} {
		if got := live.JitMapPath(socket); got != want {
			t.Errorf("%s: %q", socket, got)
		}
	}
	m := live.NewJITMaps()
	m.Asked[12] = live.JitMap{Path: filepath.Join(dir, "perf-12.map"), Theirs: true}
	m.Asked[13] = live.JitMap{}
	m.Asked[14] = live.JitMap{Path: dir, Theirs: true}
	if err := os.WriteFile(m.Asked[12].Path, []byte("10 20 one\n0x30 0x10 two words\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var got []string
	err := m.Read(t.Context(), func(pid int32, start, size uint64, name string) { got = append(got, name) })
	if err == nil || !strings.Contains(err.Error(), "no regular file") || !slices.Equal(got, []string{"one", "two words"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(m.Asked[12].Path); err != nil {
		t.Error(err)
	}
}
