package system_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

const ms = time.Millisecond

// at is a time on the axis of a script.
func at(d time.Duration) int64 { return int64(d) }

// filled returns e with its texts of fixed size filled up.
func filled(e etw.Event) etw.Event {
	v := reflect.ValueOf(e).Elem()
	for _, f := range e.EventDesc().Fields {
		if f.Type == etw.InUnicodeString && f.Length.Kind == etw.SizeConst {
			text := v.FieldByName(f.Name)
			text.SetBytes(append(text.Bytes(), make([]byte, 2*int(f.Length.N)-text.Len())...))
		}
	}
	return e
}

func script(t *testing.T) (*system.Machine, *testtrace.Script) {
	var mux etw.Mux
	m := system.Of(&mux)
	return m, testtrace.NewScript(t, &mux)
}

// Ids of processes are used again, and each time it is another process.
func TestProcessLives(t *testing.T) {
	m, s := script(t)
	s.Event(0, 0, &kernel.ProcessDCStartV4{UniqueProcessKey: 0xa, ProcessID: 8, ParentID: 4, ImageFileName: etw.ANSI("old.exe"), CommandLine: etw.MakeUTF16("old -x")})
	s.Event(1*ms, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 80})
	s.Event(2*ms, 0, &kernel.ProcessStopV4{UniqueProcessKey: 0xa, ProcessID: 8, ExitStatus: -3, ImageFileName: etw.ANSI("old.exe")})
	s.Event(3*ms, 0, &kernel.ThreadStopV3{ProcessID: 8, TThreadID: 80})
	s.Event(5*ms, 0, &kernel.ProcessStartV4{UniqueProcessKey: 0xb, ProcessID: 8, ParentID: 4, ImageFileName: etw.ANSI("new.exe"), Flags: kernel.ProcessFlagsWow64, SessionID: 0xffffffff})
	s.Event(5*ms, 0, &kernel.ProcessStartV4{UniqueProcessKey: 0xb, ProcessID: 8, ParentID: 4, ImageFileName: etw.ANSI("new.exe")}) // of a second session
	s.Event(6*ms, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 80, ThreadName: etw.MakeUTF16("main"), HasThreadName: true})
	s.Event(7*ms, 0, &kernel.ProcessStartV4{UniqueProcessKey: 0xc, ProcessID: 8, ImageFileName: etw.ANSI("newer.exe")}) // the end of the one before is missing
	s.Event(9*ms, 0, &kernel.ProcessDCStopV4{UniqueProcessKey: 0xc, ProcessID: 8, ImageFileName: etw.ANSI("newer.exe")})
	if n := len(m.Processes()); n != 3 {
		t.Fatalf("%d processes", n)
	}
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{0, "old.exe"}, {2 * ms, "old.exe"}, {5 * ms, "new.exe"}, {6 * ms, "new.exe"}, {8 * ms, "newer.exe"}} {
		if p := m.ProcessAt(8, at(c.at)); p == nil || p.Name != c.want {
			t.Errorf("at %v it is %+v, want %s", c.at, p, c.want)
		}
	}
	if p := m.ProcessAt(8, at(4*ms)); p != nil {
		t.Errorf("between two lives there is %+v", p)
	}
	old := m.ProcessAt(8, 0)
	if old.CommandLine != "old -x" || old.ExitCode != -3 || !old.HasExitCode || old.Started || len(old.Threads) != 1 {
		t.Errorf("the first is %+v", old)
	}
	second := m.ProcessAt(8, at(6*ms))
	if !second.Narrow || second.Session != -1 || second.HasExitCode || second.End != at(7*ms) || len(second.Threads) != 1 {
		t.Errorf("the second is %+v", second)
	}
	if th := m.Thread(80); th.Process != second || th.Name != "main" || m.ThreadAt(80, at(3*ms)).Process != old || m.ThreadAt(80, at(4*ms)) != nil {
		t.Errorf("the thread is %+v", th)
	}
}

// Facts that only the end of a recording tells are known at the end.
func TestLateNames(t *testing.T) {
	m, s := script(t)
	th := m.HasThread(80, -1)
	s.Event(1*ms, 0, &kernel.ImageLoadV2{ImageBase: 0x10000, ImageSize: 0x2000, ProcessID: 8, FileName: etw.MakeUTF16(`\Device\HarddiskVolume2\a.dll`)})
	if p := m.Process(8); p == nil || p.Name != "" || th.Process != nil {
		t.Fatalf("the process is %+v", p)
	}
	if u := m.Unresolved(); u != (system.Unresolved{Processes: 1, Threads: 1, Paths: 1}) {
		t.Errorf("unresolved are %+v", u)
	}
	s.Event(8*ms, 0, &kernel.ThreadDCStopV3{ProcessID: 8, TThreadID: 80, Win32StartAddr: 0x10010})
	s.Event(8*ms, 0, &kernel.ProcessDCStopV4{ProcessID: 8, ImageFileName: etw.ANSI("late.exe")})
	s.Event(9*ms, 0, &kernel.SysConfigVolumeMappingV0{NtPath: etw.MakeUTF16(`\Device\HarddiskVolume2\`), DosPath: etw.MakeUTF16(`C:\`)})
	if u := m.Unresolved(); u != (system.Unresolved{}) || th.Process != m.Process(8) || th.Process.Name != "late.exe" || th.StartAddress != 0x10010 {
		t.Errorf("unresolved are %+v, the thread is %+v", u, th)
	}
	// A thread of which only the end is logged.
	s.Event(9*ms, 0, &kernel.ThreadStopV3{ProcessID: 8, TThreadID: 84})
	if th := m.ThreadAt(84, 0); th == nil || th.Process.PID != 8 || m.ThreadAt(84, at(10*ms)) != nil {
		t.Errorf("the thread is %+v", th)
	}
}

// The kernel lists processes that have ended as long as somebody holds on to them.
func TestZombies(t *testing.T) {
	m, s := script(t)
	zombie := func(key etw.Pointer, pid uint32, name string) *kernel.ProcessDefunctV5 {
		return &kernel.ProcessDefunctV5{UniqueProcessKey: key, ProcessID: pid, ExitStatus: 5, ImageFileName: etw.ANSI(name)}
	}
	s.Event(1*ms, 0, &kernel.ProcessDCStartV4{UniqueProcessKey: 1, ProcessID: 8, ImageFileName: etw.ANSI("now.exe")})
	s.Event(1*ms, 0, zombie(2, 8, "before.exe"))
	s.Event(1*ms, 0, zombie(3, 12, "gone.exe"))
	s.Event(2*ms, 0, &kernel.ProcessStopV4{UniqueProcessKey: 1, ProcessID: 8, ExitStatus: 7})
	s.Event(3*ms, 0, zombie(1, 8, "now.exe"))
	s.Event(3*ms, 0, zombie(2, 8, "before.exe"))
	res := m.Result()
	want := []struct {
		name   string
		zombie bool
		exit   float64
	}{{"before.exe", true, 5}, {"now.exe", false, 5}, {"gone.exe", true, 5}}
	if len(res.Processes) != len(want) {
		t.Fatalf("%d processes", len(res.Processes))
	}
	found := 0
	for _, p := range res.Processes {
		for _, w := range want {
			if p.Name == w.name && p.Zombie == w.zombie && p.ExitCode.Or(-1) == w.exit && p.EndMS.IsZero() == w.zombie {
				found++
			}
		}
	}
	if found != len(want) || m.Process(8).Name != "now.exe" {
		t.Errorf("processes are %+v", res.Processes)
	}
}

// Addresses are used again, and images of the kernel are in every process.
func TestImages(t *testing.T) {
	m, s := script(t)
	start := etw.FileTimeOf(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	s.Starts(start)
	name := func(n string) etw.UTF16 { return etw.MakeUTF16(n) }
	s.Event(0, 0, &kernel.ImageDCStartV3{ImageBase: 0xfffff80000000000, ImageSize: 0x100000, FileName: name(`\SystemRoot\ntoskrnl.exe`)})
	s.Event(0, 0, &kernel.ImageDCStartV3{ImageBase: 0x10000, ImageSize: 0x1000, ProcessID: 8, FileName: name(`\a.exe`)})
	s.Event(2*ms, 0, &kernel.ImageLoadV3{ImageBase: 0x20000, ImageSize: 0x8000, ProcessID: 8, FileName: name(`\b.dll`), TimeDateStamp: 5})
	s.Event(2*ms, 0, &kernel.ImageIDDbgIDRSDSV2{ImageBase: 0x20000, ProcessID: 8, GUIDSig: etw.GUID{1}, Age: 2, PdbFileName: etw.ANSI("b.pdb")})
	s.Event(4*ms, 0, &kernel.ImageUnloadV3{ImageBase: 0x20000, ImageSize: 0x8000, ProcessID: 8, FileName: name(`\b.dll`)})
	// The identity of an image may come before the event that it is loaded.
	s.Event(6*ms, 0, &kernel.ImageIDInfoV2{ImageBase: 0x22000, ImageSize: 0x4000, ProcessID: 8, TimeDateStamp: 9, OriginalFileName: name("c.dll")})
	s.Event(6*ms, 0, &kernel.ImageLoadV3{ImageBase: 0x22000, ImageSize: 0x4000, ProcessID: 8, FileName: name(`\folder\c.dll`)})
	s.Event(7*ms, 0, &kernel.ImageUnloadV3{ImageBase: 0x30000, ImageSize: 0x1000, ProcessID: 8, FileName: name(`\d.dll`)})
	p := m.Process(8)
	for _, c := range []struct {
		address uint64
		at      time.Duration
		want    string
	}{
		{0x10000, 0, `\a.exe`}, {0x10fff, 9 * ms, `\a.exe`}, {0x11000, 0, ""}, {0xffff, 0, ""},
		{0x22000, 1 * ms, ""}, {0x22000, 3 * ms, `\b.dll`}, {0x22000, 5 * ms, ""}, {0x22000, 6 * ms, `\folder\c.dll`},
		{0x21fff, 6 * ms, ""}, {0x30010, 1 * ms, `\d.dll`}, {0x30010, 8 * ms, ""},
		{0xfffff80000001234, 0, `\SystemRoot\ntoskrnl.exe`},
	} {
		got := ""
		if i := m.Image(p, c.address, at(c.at)); i != nil {
			got = i.Path
		}
		if got != c.want {
			t.Errorf("at %v, %#x is in %q, want %q", c.at, c.address, got, c.want)
		}
	}
	for _, c := range []struct {
		address  uint64
		at       time.Duration
		module   string
		from, to time.Duration // 0 is no bound
	}{{0x22000, 1 * ms, "", 0, 2 * ms}, {0x22000, 3 * ms, `\b.dll`, 2 * ms, 4*ms + 1}, {0x22000, 5 * ms, "", 4*ms + 1, 6 * ms}, {0x22000, 8 * ms, `\folder\c.dll`, 6 * ms, 0}, {0x10000, 8 * ms, `\a.exe`, 0, 0}} {
		n, ok := m.Native(8, c.address, start.Time().Add(c.at))
		holds := func(bound int64, want time.Duration) bool {
			return want == 0 && (bound == 0 || bound == math.MinInt64 || bound == math.MaxInt64) || bound == start.Time().Add(want).UnixNano()
		}
		if n.Module != c.module || ok != (c.module != "") || !holds(n.From, c.from) || !holds(n.To, c.to) {
			t.Errorf("at %v, %#x is in %q from %d to %d: want %+v", c.at, c.address, n.Module, n.From, n.To, c)
		}
	}
	if n := len(p.Images.All()); n != 4 {
		t.Errorf("%d images", n)
	}
	if b := p.Images.At(0x20000, at(3*ms)); b.TimeDateStamp != 5 || b.PDB != (system.PDB{Name: "b.pdb", GUID: etw.GUID{1}, Age: 2}) {
		t.Errorf("the image is %+v", b)
	}
	if c := p.Images.At(0x22000, at(6*ms)); c.TimeDateStamp != 9 || !c.Started {
		t.Errorf("the image is %+v", c)
	}
	if m.Image(nil, 0x10000, 0) != nil || m.Kernel().All()[0].Size != 0x100000 {
		t.Error("an image of a process is one of the kernel")
	}
}

func TestPaths(t *testing.T) {
	m, s := script(t)
	for _, v := range [][2]string{{`\??\`, ""}, {`\SystemRoot\`, `C:\Windows\`}, {`\Device\HarddiskVolume2\`, `C:\`}, {`\Device\HarddiskVolume22\`, `D:\`}, {`\Device\Mup\`, `\\`}, {"", "X:"}, {`\DEVICE\HarddiskVolume2\`, `E:\`}} {
		s.Event(0, 0, &kernel.SysConfigVolumeMappingV0{NtPath: etw.MakeUTF16(v[0]), DosPath: etw.MakeUTF16(v[1])})
	}
	s.Event(0, 0, &kernel.SysConfigSystemPathsV0{SystemWindowsDirectory: etw.MakeUTF16(`C:\Windows\`)})
	for path, want := range map[string]string{
		`\Device\HarddiskVolume2\a\b.dll`:   `C:\a\b.dll`,
		`\device\harddiskvolume22\b.dll`:    `D:\b.dll`,
		`\Device\HarddiskVolume3\b.dll`:     `\Device\HarddiskVolume3\b.dll`,
		`\SystemRoot\system32\ntoskrnl.exe`: `C:\Windows\system32\ntoskrnl.exe`,
		`\??\C:\x.exe`:                      `C:\x.exe`,
		`\Device\Mup\host\share\x`:          `\\host\share\x`,
		`\Windows\System32\ntdll.dll`:       `C:\Windows\System32\ntdll.dll`,
		`\Windowsx\ntdll.dll`:               `\Windowsx\ntdll.dll`,
		`/usr/lib/libc.so.6`:                `/usr/lib/libc.so.6`,
		"":                                  "",
	} {
		if got := m.Path(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	m, s := script(t)
	text := etw.MakeUTF16
	s.Event(0, 0, filled(&kernel.SystemConfigCPUV3{MHz: 2400, NumberOfProcessors: 8, MemSize: 16384, PageSize: 4096, ComputerName: text("box")}))
	s.Event(0, 0, filled(&kernel.SystemConfigLogDiskV2{DiskNumber: 1, PartitionNumber: 2, PartitionSize: 100, DriveLetterString: text("D:"), FileSystem: text("NTFS")}))
	s.Event(0, 0, filled(&kernel.SystemConfigLogDiskV2{DiskNumber: 1, PartitionNumber: 2, PartitionSize: 200, DriveLetterString: text("D:"), FileSystem: text("NTFS")}))
	s.Event(0, 0, filled(&kernel.SystemConfigPhyDiskV2{DiskNumber: 1, BytesPerSector: 512, Manufacturer: text("Disk Co  ")}))
	s.Event(0, 0, &kernel.SystemConfigServicesV3{SubProcessTag: 2, ServiceName: text("Alerter"), ServiceState: 1})
	for range 2 {
		s.Event(0, 0, &kernel.SystemConfigServicesV3{ProcessID: 8, SubProcessTag: 3, ServiceName: text("Themes"), ServiceState: 4, DisplayName: text("The themes"), SvchostGroup: text("netsvcs")})
		s.Event(0, 0, &kernel.SystemConfigNICV2{PhysicalAddr: 0x28587c5d1500, PhysicalAddrLen: 6, NICDescription: text("Card"), IPAddresses: text("fe80::1;10.0.0.5"), DNSServerAddresses: text("10.0.0.1")})
	}
	s.Event(0, 0, &kernel.ThreadStartV3{ProcessID: 8, TThreadID: 80, SubProcessTag: 3})
	f := m.Facts()
	if f.Computer != "box" || f.Processors != 8 || f.MemoryMB != 16384 || f.Memory() != 1<<34 || len(f.Disks) != 1 || f.Disks[0].Model != "Disk Co" || len(f.Disks[0].Partitions) != 1 || f.Disks[0].Partitions[0].Size != 200 {
		t.Errorf("%+v", f)
	}
	if want := (system.Adapter{"Card", "00:15:5d:7c:58:28", []string{"fe80::1", "10.0.0.5"}, []string{"10.0.0.1"}}); len(f.Adapters) != 1 || !reflect.DeepEqual(f.Adapters[0], want) {
		t.Errorf("%+v", f.Adapters)
	}
	if want := []system.Service{{"Alerter", "", "Stopped", -1, ""}, {"Themes", "The themes", "Running", 8, "netsvcs"}}; !reflect.DeepEqual(f.Services, want) || f.Running() != 1 {
		t.Errorf("%+v", f.Services)
	}
	f.Disks[0].Partitions[0].Drive = "X:"
	if m.Facts().Disks[0].Partitions[0].Drive != "D:" {
		t.Error("facts share memory with the machine")
	}
	if got := m.Service(m.Thread(80)); got != "Themes" || m.Service(m.HasThread(84, 8)) != "" {
		t.Errorf("the service is %q", got)
	}
}

// Of .NET on Linux, the process itself tells its name.
func TestRuntimes(t *testing.T) {
	m, s := script(t)
	s.PID = 77
	s.Event(1*ms, 1, &clr.RuntimeInformationStart{Sku: clr.RuntimeSkuCoreCLR, BclMajorVersion: 9, BclBuildNumber: 4, CommandLine: etw.MakeUTF16(`"/opt/my app/web" --urls x`)})
	s.PID = 78
	s.Event(1*ms, 1, &clr.RuntimeInformationStart{Sku: clr.RuntimeSkuDesktopCLR, VMMajorVersion: 4, VMBuildNumber: 30319, CommandLine: etw.MakeUTF16(`C:\w3wp.exe -ap x`)})
	s.PID = -1
	s.Event(1*ms, 1, &clr.RuntimeInformationStart{})
	res := m.Result()
	if len(res.Processes) != 2 {
		t.Fatalf("%d processes", len(res.Processes))
	}
	if p := res.Processes[0]; p.Name != "web" || p.Runtime != ".NET 9.0.4" || p.PID != 77 || p.ParentPID != -1 {
		t.Errorf("%+v", p)
	}
	if p := res.Processes[1]; p.Name != "w3wp.exe" || p.Runtime != ".NET Framework 4.0.30319.0" {
		t.Errorf("%+v", p)
	}
	b, err := json.Marshal(res)
	var again system.Result
	if err != nil || json.Unmarshal(b, &again) != nil || again.Processes[0].Name != "web" {
		t.Errorf("JSON is %s, error %v", b, err)
	}
}

// Versions are of files with the same header, wherever these are loaded.
// The identity of an image is logged with its load and with its unload, into a file of its own:
// whichever file comes first, there is one image.
func TestIdentityOfFiles(t *testing.T) {
	for _, before := range []bool{false, true} {
		m, s := script(t)
		text := etw.MakeUTF16
		for i, path := range []string{`\x\one.dll`, `\x\two.dll`} { // of one size and base, the one after the other
			for k, e := range []etw.Event{
				&kernel.ImageLoadV3{ProcessID: 8, ImageBase: 0x10000, ImageSize: 0x1000, TimeDateStamp: 77, ImageChecksum: 5, FileName: text(path)},
				&kernel.ImageUnloadV3{ProcessID: 8, ImageBase: 0x10000, ImageSize: 0x1000, TimeDateStamp: 77, ImageChecksum: 5, FileName: text(path)},
			} {
				when := time.Duration(10*i+5*k+1) * time.Millisecond
				if !before {
					s.Event(when, 0, e)
				}
				s.Event(when, 0, &kernel.ImageIDFileVersionV0{ImageSize: 0x1000, OrigFileName: text(path[3:]), BinFileVersion: text(path)})
				s.Event(when, 0, &kernel.ImageIDInfoV2{ProcessID: 8, ImageBase: 0x10000, ImageSize: 0x1000, OriginalFileName: text(path[3:])})
				s.Event(when, 0, &kernel.ImageIDDbgIDRSDSV2{ProcessID: 8, ImageBase: 0x10000, Age: uint32(i + 1), PdbFileName: etw.ANSI("x.pdb")})
				if before {
					s.Event(when, 0, e)
				}
			}
		}
		list := m.ImagesResult().Images
		if len(list) != 2 {
			t.Fatalf("before %v: %+v", before, list)
		}
		for i, x := range list {
			if x.FileVersion != x.Path || x.Path == "" || x.PDBAge != uint32(i+1) || x.TimeDateStamp != 77 || x.LoadMS.IsZero() || x.UnloadMS.IsZero() {
				t.Errorf("before %v: %+v", before, x)
			}
		}
	}
}

func TestFileVersions(t *testing.T) {
	m, s := script(t)
	text := func(n string) etw.UTF16 { return etw.MakeUTF16(n) }
	version := func(stamp uint32, name, number string) {
		s.Event(0, 0, &kernel.ImageIDFileVersionV0{ImageSize: 0x1000, TimeDateStamp: stamp, OrigFileName: text(name), BinFileVersion: text(number), CompanyName: text("Bakery")})
	}
	version(5, "OVEN.DLL", "1.2.3.4")
	version(5, "OVEN.DLL", "1.2.3.4") // of another process
	version(6, "oven.dll", "2.0.0.0")
	version(6, "flour.dll", "3.0.0.0")
	version(7, "oven.dll", "4.0.0.0")
	version(7, "oven.dll", "5.0.0.0")
	for i, c := range []struct {
		stamp uint32
		size  uint64
		path  string
		want  string
	}{
		{5, 0x1000, `\bin\renamed.dll`, "1.2.3.4"}, {5, 0x2000, `\bin\oven.dll`, ""}, {4, 0x1000, `\bin\oven.dll`, ""},
		{6, 0x1000, `\bin\Flour.dll`, "3.0.0.0"}, {6, 0x1000, `\bin\other.dll`, ""}, {7, 0x1000, `\bin\oven.dll`, ""},
	} {
		base := etw.Pointer(0x10000 * (i + 1))
		s.Event(ms, 0, &kernel.ImageLoadV3{ImageBase: base, ImageSize: etw.Pointer(c.size), ProcessID: 8, FileName: text(c.path), TimeDateStamp: c.stamp})
		v, ok := m.FileVersion(m.Process(8).Images.At(uint64(base), at(ms)))
		if v.Number != c.want || ok != (c.want != "") {
			t.Errorf("%+v has %+v", c, v)
		}
	}
	renamed := m.Process(8).Images.At(0x50000, at(ms)) // other.dll
	s.Event(ms, 0, &kernel.ImageIDInfoV2{ImageBase: 0x50000, ImageSize: 0x1000, ProcessID: 8, TimeDateStamp: 6, OriginalFileName: text("FLOUR.dll")})
	if v, _ := m.FileVersion(renamed); v.Number != "3.0.0.0" {
		t.Errorf("the renamed one has %+v", v)
	}
	if x := m.ImagesResult().Images[0]; x.FileVersion != "1.2.3.4" || x.Company != "Bakery" {
		t.Errorf("the image is %+v", x)
	}
}
