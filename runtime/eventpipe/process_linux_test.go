package eventpipe

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// roleVariable makes the test program another one, for tests of processes.
const roleVariable = "ETWGEN_EVENTPIPE_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case "program": // that is launched: it starts another one, ends when it is resumed
		os.Exit(program())
	case "server": // with a socket of its own
		os.Exit(server())
	case "list":
		os.Exit(list())
	case "none": // of .NET
		fmt.Println("ready")
		time.Sleep(time.Minute)
	}
}

// as returns a command that runs the test program in a role.
func as(role string, environ ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(environ, roleVariable+"="+role)...)
	return cmd
}

// program connects to the ports of its environment until it is resumed. The first one
// starts a second, which must be resumed, too.
func program() int {
	ports := strings.Split(os.Getenv(portsVariable), ";")
	path, mode, _ := strings.Cut(ports[len(ports)-1], ",")
	if mode != "suspend" {
		return 4
	}
	rt := eventpipetest.NewRuntime(9)
	rt.PID = int64(os.Getpid())
	rt.Cookie[0] = byte(rt.PID)
	rt.Cookie[1] = byte(rt.PID >> 8)
	rt.Stream, rt.Rest = recording(3)
	go rt.Connect(func() (net.Conn, error) { return net.Dial("unix", path) })
	for rt.Resumed() == 0 {
		time.Sleep(time.Millisecond)
	}
	if os.Getenv("CHILD") != "" {
		return 0
	}
	if as("program", "CHILD=1").Run() != nil {
		return 5
	}
	stopped := func(r eventpipetest.Request) bool { return r.Command == eventpipetest.StopTracing }
	for !slices.ContainsFunc(rt.Requests(), stopped) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // for the end of the session
	return 0
}

// server listens where a runtime would.
func server() int {
	p, _ := readProc(os.Getpid())
	path := filepath.Join(os.Getenv("TMPDIR"), fmt.Sprintf("%s%d-%s%s", socketPrefix, os.Getpid(), p.key, socketSuffix))
	l, err := net.Listen("unix", path)
	if err != nil {
		fmt.Println(err)
		return 3
	}
	rt := eventpipetest.NewRuntime(9)
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			return 4
		}
		go rt.Serve(c)
	}
}

// TestDialPID finds a process with a TMPDIR of its own, and not one that has left its
// socket behind.
func TestDialPID(t *testing.T) {
	folder := t.TempDir()
	cmd := as("server", "TMPDIR="+folder)
	testio.Ready(t, cmd)
	pid := cmd.Process.Pid
	// Another process with this pid has left a socket, which is newer.
	stale := filepath.Join(folder, fmt.Sprintf("%s%d-1%s", socketPrefix, pid, socketSuffix))
	if l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"}); err == nil {
		l.SetUnlinkOnClose(false)
		l.Close()
	}
	c, err := DialPID(t.Context(), pid)
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(t.Context())
	if err != nil || info.CommandLine != "dotnet app.dll" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := DialSocket(t.Context(), stale); err == nil {
		t.Error("a socket that nobody listens at is connected to")
	} else {
		wantError(t, "a stale socket", err, ErrNotFound)
	}
	list, err := Processes(t.Context())
	i := slices.IndexFunc(list, func(p Process) bool { return p.PID == pid })
	if err != nil || i < 0 {
		t.Fatalf("%v, %v: process %d is not listed", list, err, pid)
	}
	if p := list[i]; p.Err != nil || p.Runtime != "9.0.0" || time.Since(p.Start) > time.Hour || !strings.HasPrefix(p.Socket, folder) {
		t.Errorf("%+v", p)
	}
}

// TestNoRuntime checks the errors for other processes than those of .NET.
func TestNoRuntime(t *testing.T) {
	cmd := as("none")
	testio.Ready(t, cmd)
	_, err := DialPID(t.Context(), cmd.Process.Pid)
	wantError(t, "a process without a socket", err, ErrNotFound)
	for _, cause := range []string{"DOTNET_EnableDiagnostics", "TMPDIR"} {
		if err != nil && !strings.Contains(err.Error(), cause) {
			t.Errorf("%v does not name %s", err, cause)
		}
	}
	_, err = DialPID(t.Context(), 1<<30)
	wantError(t, "no process", err, ErrNotFound)
	_, err = DialSocket(t.Context(), filepath.Join(t.TempDir(), "none"))
	wantError(t, "no socket", err, ErrNotFound)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Processes(canceled)
	wantError(t, "Processes", err, context.Canceled)
}

// TestLongPath connects to a socket whose path is longer than an address.
func TestLongPath(t *testing.T) {
	folder := t.TempDir()
	for len(folder) < 200 {
		folder = filepath.Join(folder, strings.Repeat("f", 50))
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	wd := testio.File(t, folder)
	defer wd.Close()
	rt := eventpipetest.NewRuntime(9)
	_, stop, err := rt.Listen(fmt.Sprintf("/proc/self/fd/%d", wd.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c, err := DialSocket(t.Context(), filepath.Join(folder, "dotnet-diagnostic-4711-1-socket"))
	wantError(t, "DialSocket", err, nil)
	if c.PID() != os.Getpid() {
		t.Errorf("process %d is taken for %d", os.Getpid(), c.PID())
	}
}

// TestLaunch launches a program that starts another one.
func TestLaunch(t *testing.T) {
	cmd := as("program", portsVariable+"=/another/port,connect")
	child, err := Launch(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if want, got := fmt.Sprintf("process %d", cmd.Process.Pid), child.String(); got != want {
		t.Errorf("the program is called %s, want %s", got, want)
	}
	s, err := child.Start(t.Context(), testConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if child.PID() != cmd.Process.Pid {
		t.Errorf("process %d is taken for %d", cmd.Process.Pid, child.PID())
	}
	wantError(t, "Resume", child.Resume(t.Context()), nil)
	wantError(t, "Stop", s.Stop(t.Context()), nil)
	if n, err := count(s); n != 3 || err != nil {
		t.Errorf("%d records, %v; want 3", n, err)
	}
	<-child.Done()
	wantError(t, "the program", child.Wait(), nil)
}

// TestLaunchOfOthers launches other programs than those of .NET.
func TestLaunchOfOthers(t *testing.T) {
	_, err := Launch(t.Context(), exec.Command(filepath.Join(t.TempDir(), "none")))
	wantError(t, "no program", err, os.ErrNotExist)
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	cmd := as("none")
	_, err = Launch(short, cmd)
	wantError(t, "a program without a runtime", err, context.DeadlineExceeded)
	ends := as("server", "TMPDIR=/no/such/folder")
	if _, err = Launch(t.Context(), ends); err == nil || !strings.Contains(err.Error(), "ended (exit status 3)") {
		t.Errorf("a program that ends: %v", err)
	}
}
