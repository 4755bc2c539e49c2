package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// describeEvent makes the folder of a kernel that has an event of programs.
func describeEvent(t *testing.T, name, id string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	text := fmt.Sprintf(`name: %s
ID: %s
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:u8 eventheader_flags;	offset:8;	size:1;	signed:0;
	field:u8 version;	offset:9;	size:1;	signed:0;
	field:u16 id;	offset:10;	size:2;	signed:0;
	field:u16 tag;	offset:12;	size:2;	signed:0;
	field:u8 opcode;	offset:14;	size:1;	signed:0;
	field:u8 level;	offset:15;	size:1;	signed:0;

print fmt: ""
`, name, strings.TrimSpace(id))
	path := filepath.Join(folder, "events", "user_events", name, "format")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// bake has the kernel pass bytes of our choice: a system call that no kernel has, whose number
// is the header of an event, and whose arguments are the rest.
func bake(loaves uint32) {
	const flags, version, id = 1 | 2 | 4, 1, 700 // 64 bits, little-endian, and extensions
	const metadata = "Baked\x00loaves\x00\x04"
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(metadata)))
	b = append(binary.LittleEndian.AppendUint16(b, 1), metadata...)
	b = append(binary.LittleEndian.AppendUint32(b, loaves), make([]byte, 48)...)
	arg := func(n int) uintptr { return uintptr(binary.LittleEndian.Uint64(b[8*n:])) }
	syscall.RawSyscall6(flags|version<<8|id<<16, arg(0), arg(1), arg(2), arg(3), arg(4), arg(5))
}

// Events that this program has the kernel pass are recorded, decoded, and in a file: all of
// them, in their order, where the kernel has no user_events, too.
func TestEventHeader(t *testing.T) {
	number, err := os.ReadFile(tracefs + "/events/raw_syscalls/sys_enter/id")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skipf("system calls cannot be recorded here: %v", err)
	}
	s, err := start(Config{Processes: []int{os.Getpid()}, RingBytes: 16 << 20, Tracepoints: []string{"user_events:Bak*"}}, describeEvent(t, "Bakery_L4K1f", string(number)))
	if err != nil {
		t.Skipf("nothing can be sampled here: %v", err)
	}
	defer s.Close()
	const count = 1000
	go func() {
		for n := range count {
			bake(uint32(n))
		}
		s.Stop()
	}()
	var file bytes.Buffer
	h := s.Header()
	w, err := nettrace.NewWriter(&file, nettrace.Header{Version: 6, Clock: h.Clock, PointerSize: h.PointerSize, ProcessID: -1, Processors: h.Processors})
	if err != nil {
		t.Fatal(err)
	}
	var live, read []uint32
	traced := int64(0)
	collect := func(list *[]uint32, r *etw.Record) {
		switch r.ProviderName {
		case "Bakery":
			if r.Schema.Name != "Baked" || r.ID != 700 || r.Version != 1 || r.Keywords != 0x1f || r.ProcessID != int64(os.Getpid()) || len(r.Payload) < 4 {
				t.Fatalf("%s: %+v", r.Schema.Name, r)
			}
			*list = append(*list, binary.LittleEndian.Uint32(r.Payload))
			traced++
		case "user_events": // other system calls of this program
			traced++
		}
	}
	for r, err := range s.Records() {
		if err = errors.Join(err, w.Write(r)); err != nil {
			t.Fatal(err)
		}
		collect(&live, r)
	}
	if n := s.Stats(); n.Lost > 0 || n.Traced != traced || n.Garbled != n.Traced-count {
		t.Errorf("%+v, %d seen", n, traced)
	}
	r, err := nettrace.NewReader(&file)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for rec := range testio.Records(t, r.Records()) {
		collect(&read, rec)
	}
	if len(live) != count || !slices.IsSorted(live) || live[count-1] != count-1 || !slices.Equal(live, read) {
		t.Errorf("%d events live, %d of the file", len(live), len(read))
	}
}

// An error says why there is no event of a name.
func TestNoTracepoint(t *testing.T) {
	folder := describeEvent(t, "Bakery_L4K1f", "77")
	damaged := describeEvent(t, "Bakery_L4K1f", "77\nfield:x")
	for _, c := range []struct {
		folder, name, want string
		is                 error
	}{
		{folder, "Bakery_L4K1f", "want its group and name", nil},
		{folder, "user_events:", "want its group and name", nil},
		{folder, "a/b:c", "want its group and name", nil},
		{folder, "sched:sched_wake", "the kernel has no such event", nil},
		{folder, "user_events:[", "syntax error in pattern", filepath.ErrBadPattern},
		{folder, "user_events:Cake*", "CONFIG_USER_EVENTS", fs.ErrNotExist},
		{filepath.Join(folder, "none"), "user_events:*", "mount -t tracefs", fs.ErrNotExist},
		{damaged, "user_events:*", "has no place", nil},
	} {
		if p, err := tracepoints(c.folder, []string{c.name}); err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, %v", c.name, p, err)
		}
	}
	testio.Write(t, filepath.Join(folder, "user_events_data"), "")
	if _, err := tracepoints(folder, []string{"user_events:Cake*"}); err == nil || !strings.Contains(err.Error(), "registered") {
		t.Error(err)
	}
	if p, err := tracepoints(folder, []string{"user_events:*", "user_events:Bakery*"}); err != nil || len(p) != 1 || p[77].Desc.Provider.Name != "user_events" {
		t.Errorf("%v, %v", p, err)
	}
}
