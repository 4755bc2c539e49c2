package kernel_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestParseFlags(t *testing.T) {
	for list, want := range map[string]kernel.Flags{
		"EVENT_TRACE_FLAG_PROCESS":      kernel.FlagProcess,
		"process|thread":                kernel.FlagProcess | kernel.FlagThread,
		"PROC_THREAD+LOADER+PROFILE":    kernel.FlagProcess | kernel.FlagThread | kernel.FlagImageLoad | kernel.FlagProfile,
		"ContextSwitch, ImageLoad":      kernel.FlagCswitch | kernel.FlagImageLoad,
		"DISK_IO_INIT DiskFileIO":       kernel.FlagDiskIoInit | kernel.FlagDiskFileIo,
		"0x7":                           kernel.FlagProcess | kernel.FlagThread | kernel.FlagImageLoad,
		"HARD_FAULTS+VIRT_ALLOC":        kernel.FlagMemoryHardFaults | kernel.FlagVirtualAlloc,
		"None":                          0,
		"networktrace,FILENAME,syscall": kernel.FlagNetworkTcpip | kernel.FlagDiskFileIo | kernel.FlagSystemcall,
	} {
		if got, err := kernel.ParseFlags(list); got != want || err != nil {
			t.Errorf("%s: %v, error %v; want %v", list, got, err, want)
		}
	}
	if _, err := kernel.ParseFlags("PROC_TREAD"); err == nil {
		t.Error("PROC_TREAD is a flag")
	}
}

func TestStacks(t *testing.T) {
	var got []string
	for _, k := range (kernel.FlagProfile | kernel.FlagCswitch | kernel.FlagDiskIo).Stacks() {
		got = append(got, k.String())
	}
	if want := []string{"classic ce1dbfb4-137e-4da6-87b0-3f59aa102cbc/46.2", "classic 3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c/36.2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestGroupMasks(t *testing.T) {
	// As traces have them: PROFILE is the bit 2 of the second word.
	m := (kernel.FlagProcess | kernel.FlagProfile | kernel.FlagSystemcall).Masks()
	if want := (kernel.GroupMasks{1, 2, 0x40}); m != want {
		t.Errorf("masks %x, want %x", m, want)
	}
	if got, want := m.Flags(), kernel.FlagProcess|kernel.FlagProfile|kernel.FlagSystemcall; got != want {
		t.Errorf("flags %v, want %v", got, want)
	}
	if m.Has(kernel.GroupHeap) {
		t.Error("it has the group of heaps")
	}
	m.Set(kernel.GroupHeap)
	m.Set(kernel.GroupSyscfgAll)
	if !m.Has(kernel.GroupHeap) || !m.Has(kernel.GroupSyscfgServices) || m[2] != 0x60 || m[6] != 0x1fffffff {
		t.Errorf("masks %x", m)
	}
	extension := &kernel.AnyEventTraceExtension{GroupMask1: 1, GroupMask8: 8}
	if got := extension.GroupMasks(); got != (kernel.GroupMasks{0: 1, 7: 8}) {
		t.Errorf("masks of an event %x", got)
	}
	end := &kernel.AnyEventTraceEndExtension{GroupMask2: 2}
	if got := end.GroupMasks(); got != (kernel.GroupMasks{1: 2}) {
		t.Errorf("masks of an event at the end %x", got)
	}
}

func TestSystemProviders(t *testing.T) {
	seen := make(map[etw.GUID]bool)
	for _, p := range kernel.SystemProviders {
		if p.Desc.Name == "" || seen[p.Desc.GUID] || len(p.Keywords) == 0 {
			t.Errorf("%+v", p.Desc)
		}
		seen[p.Desc.GUID] = true
	}
	if len(seen) < 17 {
		t.Errorf("%d providers", len(seen))
	}
}

// Report processes as they start and end, whatever version of the events the trace has, and
// find out the settings for a session.
func Example() {
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyProcessStart) error {
		fmt.Printf("%d starts %s, user %s: %s\n", e.ParentID, e.ImageFileName, e.UserSID, e.CommandLine)
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyProcessStop) error {
		fmt.Printf("%d ends with %d\n", e.ProcessID, e.ExitStatus)
		return nil
	})
	for _, e := range mux.Enablement() {
		fmt.Println("enable", kernel.Flags(e.Keywords))
	}

	start := kernel.ProcessStartV4{
		ProcessID:     4242,
		ParentID:      808,
		UserSID:       etw.TokenUser{User: 1, SID: etw.MakeSID(5, 18)},
		ImageFileName: etw.ANSI("notepad.exe"),
		CommandLine:   etw.MakeUTF16(`notepad.exe C:\todo.txt`),
	}
	payload, err := start.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := start.EventDesc()
	_ = mux.Dispatch(&etw.Record{
		Kind: etw.KindClassic, Provider: d.Class, Opcode: d.Opcode, Version: d.Version, PointerSize: etw.Ptr64, Payload: payload,
	})
	// Output:
	// enable EVENT_TRACE_FLAG_PROCESS
	// 808 starts notepad.exe, user S-1-5-18: notepad.exe C:\todo.txt
}
