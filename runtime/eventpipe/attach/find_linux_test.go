package attach_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	. "github.com/etwgen/etwgen/runtime/eventpipe/attach"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// roleVariable makes the test program another one.
const roleVariable = "ETWGEN_ATTACH_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		serve()
	}
	os.Exit(m.Run())
}

// serve listens where a runtime would.
func serve() {
	stat, _ := os.ReadFile("/proc/self/stat")
	key := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[19]
	l, err := net.Listen("unix", filepath.Join(os.Getenv("TMPDIR"), fmt.Sprintf("dotnet-diagnostic-%d-%s-socket", os.Getpid(), key)))
	if err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	rt := eventpipetest.NewRuntime(9)
	rt.PID = int64(os.Getpid())
	rt.Cookie[0], rt.Cookie[1] = byte(rt.PID), byte(rt.PID>>8)
	rt.CommandLine = "/srv/" + os.Getenv(roleVariable) + " --x"
	rt.Environ = []string{"OTEL_SERVICE_NAME=" + os.Getenv(roleVariable) + "-service"}
	b, err := os.ReadFile("../../../tests/recorded/gc.nettrace")
	if err != nil {
		fmt.Println(err)
		os.Exit(4)
	}
	rt.Stream, rt.Rest = b[:len(b)-1], b[len(b)-1:]
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(5)
		}
		go rt.Serve(c)
	}
}

// ours returns a name that no process of another run of these tests has, on this machine or
// in another clone.
func ours(name string) string { return fmt.Sprintf("etwgen-%s-%d", name, os.Getpid()) }

// launch starts a process of a name.
func launch(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+name, "TMPDIR="+t.TempDir())
	testio.Ready(t, cmd)
	return cmd
}

// TestFind finds a process by each of its names, beside one that is stopped and a socket
// that is dead: these are not in its way.
func TestFind(t *testing.T) {
	t.Parallel()
	name := ours("bakery")
	one, two := launch(t, name), launch(t, ours("butcher"))
	two.Process.Signal(syscall.SIGSTOP)
	defer two.Process.Signal(syscall.SIGCONT)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(t.TempDir(), "dotnet-diagnostic-1-1-socket")})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	all, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []Target{{PID: one.Process.Pid}, {Name: name}, {Name: strings.ToUpper(name) + "-service"}, {Executable: "/srv/" + name}} {
		list := slices.DeleteFunc(slices.Clone(all), func(p *Process) bool { return !target.Is(p) })
		if len(list) != 1 || list[0].PID != one.Process.Pid || list[0].Err != nil || list[0].Service != name+"-service" {
			t.Errorf("%v is %+v", &target, list)
		}
	}
	list, err := Find(t.Context(), Target{PID: two.Process.Pid})
	if err != nil || len(list) != 1 || list[0].Err == nil {
		t.Errorf("the process that is stopped: %+v, %v", list, err)
	}
}

// TestRestart attaches to a process by its name, and to the one that is started then. One
// that is stopped is said to be so, once.
func TestRestart(t *testing.T) {
	t.Parallel()
	c := new(counter)
	n := c.events(t)
	name, silent := ours("grocer"), launch(t, ours("silent"))
	silent.Process.Signal(syscall.SIGSTOP)
	defer silent.Process.Signal(syscall.SIGCONT)
	end := c.start(t, Supervisor{Targets: []Target{{Name: name + "-service"}, {PID: silent.Process.Pid}}})
	wait(t, "the target is missed", func() bool { return strings.Contains(c.said(), "{name: "+name+"-service}") })
	first := launch(t, name)
	wait(t, "all records are there", func() bool { return c.total() >= n })
	wait(t, "nothing is missed", func() bool { return c.said() == "" })
	first.Process.Kill()
	first.Wait()
	launch(t, name)
	wait(t, "those of the next process are there", func() bool { return c.total() >= 2*n })
	wait(t, "the one that is stopped is told", func() bool { return strings.Contains(c.logged(), "a process cannot be reached") })
	end()
	if c.total() != 2*n || strings.Count(c.logged(), "a process cannot be reached") != 1 {
		t.Errorf("%d records, want %d\n%s", c.total(), 2*n, c.logged())
	}
}
