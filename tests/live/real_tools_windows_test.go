package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/provider/tracelogging"
	"github.com/etwgen/etwgen/runtime/session"
)

// TestKernelEvents: the kernel tells of a process that starts and ends, of its images, and samples a
// busy processor. There is one NT Kernel Logger, and whoever comes second hears of it.
func TestKernelEvents(t *testing.T) {
	needETW(t)
	const flags = kernel.FlagProcess | kernel.FlagThread | kernel.FlagImageLoad | kernel.FlagProfile
	for _, name := range []string{"", session.KernelLoggerName} {
		s := begins(t, session.Config{Name: name, Replace: name != "", KernelFlags: uint32(flags), SampleInterval: time.Millisecond})
		if _, err := session.Start(t.Context(), session.Config{Name: s.Name(), KernelFlags: uint32(flags)}); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second %s: %v", s.Name(), err)
		}
		other, err := session.Start(t.Context(), session.Config{Name: s.Name() + "-2", KernelFlags: uint32(flags)})
		if err != nil {
			t.Errorf("a second session of the kernel: %v", err)
		} else {
			other.Close()
		}
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothing$")
		if err := child.Run(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); isReal && time.Since(begun) < 3*time.Second; { // to be sampled
		}
		var mux etw.Mux
		pid, events := uint32(child.Process.Pid), 0
		var started, ended, images, samples int
		etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyProcessStart) error {
			if e.ProcessID == etw.Pointer(pid) {
				started++
			}
			return nil
		})
		etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyProcessStop) error {
			if e.ProcessID == etw.Pointer(pid) && e.ExitStatus == 0 {
				ended++
			}
			return nil
		})
		etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyImageLoad) error {
			if e.ProcessID == pid {
				images++
			}
			return nil
		})
		etw.Handle(&mux, func(r *etw.Record, _ *kernel.AnyPerfInfoSample) error {
			if r.ProcessID == int64(os.Getpid()) {
				samples++
			}
			return nil
		})
		whatCame(t, s, func(r *etw.Record) {
			events++
			if err := mux.Dispatch(r); err != nil {
				t.Fatal(err)
			}
		})
		if events < 10 {
			lacks(t, "the kernel writes no events")
		}
		if started != 1 || ended != 1 || images < 3 || samples < 1000 {
			t.Errorf("%q: %d starts, %d ends with code 0, %d images, %d samples in 3 s", name, started, ended, images, samples)
		}
	}
}

// TestCollections: collections of a .NET program are as many by ETW as the runtime writes to its
// own file.
func TestCollections(t *testing.T) {
	needETW(t)
	s := begins(t, session.Config{Providers: []session.Provider{{GUID: clr.Provider.Desc.GUID, Enablement: session.Enablement{Level: 4, Keywords: 1}}}})
	program, err := exec.LookPath("pwsh")
	if err != nil || !isReal {
		lacks(t, "there is no .NET program: pwsh")
	}
	own := filepath.Join(folder(t), "own.nettrace")
	child := exec.CommandContext(t.Context(), program, "-NoProfile", "-NonInteractive", "-Command", "1..10 | ForEach-Object { [GC]::Collect() }")
	child.Env = append(os.Environ(), "DOTNET_EnableEventPipe=1", "DOTNET_EventPipeOutputPath="+own, "DOTNET_EventPipeConfig=Microsoft-Windows-DotNETRuntime:0x1:4")
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	starts := func(n *[2]int) *etw.Mux {
		mux := new(etw.Mux)
		etw.Handle(mux, func(r *etw.Record, e *clr.AnyGCStart) error {
			if r.ProcessID == int64(child.Process.Pid) {
				n[0]++
				if e.Reason == clr.GCReasonInduced {
					n[1]++
				}
			}
			return nil
		})
		return mux
	}
	var theirs, live [2]int
	whatCame(t, s, func(r *etw.Record) {
		if err := starts(&live).Dispatch(r); err != nil {
			t.Fatal(err)
		}
	})
	f := testio.Open(t, nettrace.Open, own)
	defer f.Close()
	if err := starts(&theirs).Run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if live != theirs || live[1] != 10 {
		t.Errorf("ETW has %d collections, %d of them induced; the file of the runtime %v", live[0], live[1], theirs)
	}
}

// TestEventLog: Windows registers a program by the resources that etwgen has compiled, and renders
// its events with their texts.
func TestEventLog(t *testing.T) {
	needETW(t)
	service := filepath.Join(folder(t), "service.exe")
	tool(t, "go", "build", "-o", service, "../../examples/service")
	man := testio.Abs(t, "../../examples/service/events/service.man")
	tool(t, "wevtutil", "im", man, "/rf:"+service, "/mf:"+service)
	t.Cleanup(func() { exec.Command("wevtutil", "um", man).Run() })
	tool(t, service)
	said := ""
	for try := 0; try < 20 && !strings.Contains(said, "Miller"); try++ {
		time.Sleep(500 * time.Millisecond)
		said = tool(t, "wevtutil", "qe", "Etwgen-Examples-Service/Operational", "/f:RenderedXml", "/rd:true", "/c:6")
	}
	for _, want := range []string{"<Message>Order 2 of Miller", "<Task>Order</Task>", "<Keyword>Orders</Keyword>", "<Data Name='Customer'>Miller</Data>"} {
		if !strings.Contains(strings.ReplaceAll(said, `"`, "'"), want) {
			t.Errorf("there is no %s in\n%s", want, said)
		}
	}
}

// TestFieldNames: an event that describes itself has its names and values in Microsoft's reader.
func TestFieldNames(t *testing.T) {
	needETW(t)
	path := filepath.Join(folder(t), "sold.etl")
	s := begins(t, session.Config{File: &session.File{Path: path}, Providers: all(session.Enablement{})})
	e := tracelogging.MustDefine[sold](registered(t), "Sold", tracelogging.Options{Level: etw.LevelWarning, Keywords: 1})
	if err := e.Write(t.Context(), &sold{Article: "chair", Price: 99.5, Colors: []string{"red"}, When: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	r := testio.Open(t, etl.Open, path)
	defer r.Close()
	ours := ""
	for rec := range testio.Records(t, r.Records()) {
		if rec.Schema != nil && rec.Schema.Title() != "" {
			ours += rec.Schema.Title()
		}
	}
	if !strings.Contains(ours, "Sold") {
		t.Errorf("our reader has %q", ours)
	}
	out := path + ".xml"
	tool(t, "tracerpt", path, "-o", out, "-of", "XML", "-lr", "-y")
	text := testio.Read(t, out)
	for _, want := range []string{"Sold", `Name="Article">chair<`, `Name="Price">99.5`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in\n%.4000s", want, text)
		}
	}
}

// TestAccess: a user without rights is told so, and by what remedy, which helps.
func TestAccess(t *testing.T) {
	needETW(t)
	const user, password, group = "etwgen-plain", "Etwgen-Plain-7-Words", "Performance Log Users"
	tool(t, "net", "user", user, password, "/add")
	t.Cleanup(func() { exec.Command("net", "user", user, "/delete").Run() })
	dir, err := os.MkdirTemp(os.Getenv("PUBLIC"), "etwgen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self := testio.Read(t, os.Args[0])
	program, out := filepath.Join(dir, "plain.exe"), filepath.Join(dir, "out.txt")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	tool(t, "icacls", dir, "/grant", user+":(OI)(CI)M")
	try := func() string {
		tool(t, "powershell", "-NoProfile", "-Command", fmt.Sprintf(
			"$p = ConvertTo-SecureString '%s' -AsPlainText -Force; $c = New-Object Management.Automation.PSCredential('%s', $p); "+
				"Start-Process -Wait -WorkingDirectory '%s' -Credential $c -RedirectStandardOutput '%s' '%s' '-test.run=^TestNothing$ -test.v'", password, user, dir, out, program))
		return string(testio.Read(t, out))
	}
	if said := try(); !strings.Contains(said, "access denied: true") || !strings.Contains(said, group) {
		t.Errorf("a plain user gets %s", said)
	}
	tool(t, "net", "localgroup", group, user, "/add")
	if said := try(); !strings.Contains(said, "session: started") {
		t.Errorf("a member of %s gets %s", group, said)
	}
}

// TestNothing is for the processes that other tests start: it says whether it may start a session.
func TestNothing(t *testing.T) {
	s, err := session.Start(t.Context(), session.Config{})
	if err != nil {
		t.Logf("access denied: %t: %v", errors.Is(err, fs.ErrPermission), err)
		return
	}
	t.Log("session: started")
	if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// TestCompressed attaches to a session whose buffers Windows compresses, and says whether they come
// so. It fails for neither.
func TestCompressed(t *testing.T) {
	needETW(t)
	const name = "etwgen-compressed"
	tool(t, "logman", "create", "trace", name, "-ets", "-rt", "-mode", "0x04000000", "-p", "{"+ours.GUID.String()+"}")
	t.Cleanup(func() { exec.Command("logman", "stop", name, "-ets").Run() })
	s, err := session.Attach(t.Context(), name, session.Consumption{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := provider.New(ours)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 100 {
		writeMarked(t.Context(), p)
	}
	n := 0
	whatCame(t, s, func(r *etw.Record) {
		if r.Provider == ours.GUID {
			n++
		}
	})
	info, err := s.Query()
	t.Logf("%d of 3000 events came, whole buffers: %t, %v; %+v (%v)", n, s.DeliversBuffers(), s.Stats(), info, err)
}
