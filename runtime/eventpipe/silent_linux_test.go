package eventpipe

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestSilentSockets lists a process beside others whose sockets take a connection and answer
// nothing: they are listed with the reason, and cost the one that answers nothing.
func TestSilentSockets(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	good := as("server")
	testio.Ready(t, good)
	silent := make(map[int]bool)
	for range 3 {
		cmd := as("none")
		testio.Ready(t, cmd)
		p, err := readProc(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		l := testio.Listen(t, "unix", filepath.Join(dir, socketPrefix+strconv.Itoa(cmd.Process.Pid)+"-"+p.key+socketSuffix))
		defer l.Close()
		silent[cmd.Process.Pid] = true
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	list, err := Processes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range list {
		switch {
		case p.PID == good.Process.Pid:
			if found++; p.Err != nil || p.Runtime == "" {
				t.Errorf("the process that answers: %+v", p)
			}
		case silent[p.PID]:
			if found++; !errors.Is(p.Err, context.DeadlineExceeded) {
				t.Errorf("a silent process: %v", p.Err)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d of 4 processes are listed", found)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Processes(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a list that nobody waits for: %v", err)
	}
}
