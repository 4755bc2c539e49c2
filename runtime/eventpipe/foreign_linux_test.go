package eventpipe

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// nobody is the number of a user that owns nothing.
const nobody = 65534

// list prints the processes as the user sees them.
func list() int {
	list, err := Processes(context.Background())
	fmt.Println("ready")
	for _, p := range list {
		fmt.Println(p.PID, p.Runtime, p.Err)
	}
	if err != nil {
		fmt.Println(err)
	}
	return 0
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a second user takes root")
	}
}

// TestOtherUser: a user is told that a process of another one cannot be reached, and why,
// and root reaches both.
func TestOtherUser(t *testing.T) {
	needRoot(t)
	folder, err := os.MkdirTemp("/tmp", "foreign")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o1777); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(folder, "exe")
	program, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(exe, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	as := func(role string, user uint32) (cmd *exec.Cmd) {
		cmd = as(role, "TMPDIR="+folder)
		cmd.Path, cmd.Dir = exe, folder
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		return cmd
	}
	ours, theirs := as("server", 0), as("server", nobody)
	testio.Ready(t, ours)
	testio.Ready(t, theirs)
	out, err := as("list", nobody).Output()
	if err != nil {
		t.Fatal(err)
	}
	said := func(cmd *exec.Cmd) string {
		for line := range strings.Lines(string(out)) {
			if rest, ok := strings.CutPrefix(line, strconv.Itoa(cmd.Process.Pid)+" "); ok {
				return strings.TrimSpace(rest)
			}
		}
		return "nothing"
	}
	if got := said(theirs); !strings.HasSuffix(got, "<nil>") {
		t.Errorf("the user's own process: %s", got)
	}
	if got := said(ours); !strings.Contains(got, "belongs to another user; run as that user, or as root") {
		t.Errorf("a process of root: %s", got)
	}
	t.Setenv("TMPDIR", folder)
	for _, cmd := range []*exec.Cmd{ours, theirs} {
		c, err := DialPID(t.Context(), cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Info(t.Context()); err != nil {
			t.Errorf("root and process %d: %v", cmd.Process.Pid, err)
		}
	}
}

// TestForeignSocket: a socket that another user made under the name of a process's own is not
// taken for it.
func TestForeignSocket(t *testing.T) {
	needRoot(t)
	folder := t.TempDir()
	cmd := as("none", "TMPDIR="+folder)
	testio.Ready(t, cmd)
	p, err := readProc(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, fmt.Sprintf("%s%d-%s%s", socketPrefix, p.pid, p.key, socketSuffix))
	l := testio.Listen(t, "unix", path)
	defer l.Close()
	if got, err := findSocket(p.pid); got != path || err != nil {
		t.Errorf("its own socket: %q, %v", got, err)
	}
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	_, err = DialPID(t.Context(), p.pid)
	wantError(t, "a socket of another user", err, fs.ErrPermission)
	if err == nil || !strings.Contains(err.Error(), "is a socket of user 65534, and not of process") {
		t.Errorf("it says %v", err)
	}
	found, err := Processes(t.Context())
	if i := slices.IndexFunc(found, func(x Process) bool { return x.PID == p.pid }); err != nil || i >= 0 && found[i].Err == nil {
		t.Errorf("it is listed: %v, %v", found, err)
	}
}
