package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/runtime/linux"
)

// busyTime is for how long the busy program uses a processor.
const busyTime = 400 * time.Millisecond

// busyProcess is a program that, when it is told to, uses a processor for a time, and ends
// when its input does.
func busyProcess() {
	in := bufio.NewReader(os.Stdin)
	in.ReadByte()
	var begun, now syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &begun)
	for now.Utime.Nano()-begun.Utime.Nano() < busyTime.Nanoseconds() {
		for range 1 << 16 {
			busySum++
		}
		syscall.Getrusage(syscall.RUSAGE_SELF, &now)
	}
	os.Stdout.WriteString("done\n")
	in.ReadByte()
}

var busySum int

// A busy is the program, which waits.
type busy struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startBusy(t *testing.T) *busy {
	t.Helper()
	s, err := linux.Start(linux.Config{Interval: time.Second})
	if err != nil {
		t.Skipf("nothing can be sampled here: %v", err)
	}
	s.Close()
	b := &busy{cmd: etwProcess(t)}
	b.cmd.Args = []string{"busy"}
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	b.out = bufio.NewReader(out)
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.in.Close() })
	return b
}

// work has the program use its time.
func (b *busy) work(t *testing.T) {
	t.Helper()
	if _, err := b.in.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if line, err := b.out.ReadString('\n'); err != nil || line != "done\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// recordSystem starts a recording, and returns when it runs.
func recordSystem(t *testing.T, args ...string) (cmd *exec.Cmd, rest func() string) {
	t.Helper()
	cmd = etwProcess(t, append([]string{"collect", "--system"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "recording") {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, func() string {
		text, _ := io.ReadAll(lines)
		return string(text)
	}
}

// sampledOf returns for how long a process was sampled, and all were.
func sampledOf(t *testing.T, path string, pid int) (its, all float64) {
	t.Helper()
	for _, p := range askSystem(t, "processes", path).Processes {
		all += p.SampledMS
		if p.PID == int64(pid) {
			its += p.SampledMS
			if want := "busy"; !strings.HasPrefix(p.Name, want) && !strings.HasPrefix(p.Name, "etw") {
				t.Errorf("process %d is called %q", pid, p.Name)
			}
		}
	}
	return its, all
}

// checkBusy holds samples against the time that the program used by its own clock. A
// processor that is itself shared may leave samples out.
func checkBusy(t *testing.T, sampled float64, b *busy) {
	t.Helper()
	used := float64((b.cmd.ProcessState.UserTime() + b.cmd.ProcessState.SystemTime()).Milliseconds())
	if sampled < used/4 || sampled > used*2+100 {
		t.Errorf("it was sampled for %.0f ms, and used %.0f ms", sampled, used)
	}
	t.Logf("it was sampled for %.0f ms, and used %.0f ms", sampled, used)
}

// A recording of one process has its samples alone, all of them, and ends when it does.
func TestSystemProcess(t *testing.T) {
	b := startBusy(t)
	path := filepath.Join(t.TempDir(), "one.nettrace")
	args := []string{"-p", strconv.Itoa(b.cmd.Process.Pid), "-o", path}
	_, noEvents := os.Stat("/sys/kernel/tracing/events/sched/sched_process_exit/format")
	if noEvents == nil {
		args = append(args, "--tracepoints", "sched:sched_process_ex*,sched:sched_process_exit")
	}
	cmd, rest := recordSystem(t, args...)
	b.work(t)
	b.in.Close()
	if err := b.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	text := rest()
	if code := exitCodeOf(t, cmd.Wait()); code != 0 {
		t.Fatalf("exit code %d, %s", code, text)
	}
	its, all := sampledOf(t, path, b.cmd.Process.Pid)
	if its != all {
		t.Errorf("%.0f of %.0f ms are of the process", its, all)
	}
	checkBusy(t, its, b)
	var stat bytes.Buffer
	if code := run([]string{"stat", "--format", "csv", path}, strings.NewReader(""), &stat, io.Discard); code != 0 || noEvents == nil && !strings.Contains(stat.String(), "sched_process_exit") {
		t.Errorf("exit code %d, %s", code, stat.String())
	}
	var program, total int64
	for _, r := range askSystem(t, "top", "--by", "module", path).Rows {
		total += r.Self[0]
		if !strings.HasPrefix(r.Method, "vmlinux") {
			program += r.Self[0]
		}
	}
	if total != int64(its) || program < total/2 {
		t.Errorf("%d samples, %d of them in the program", total, program)
	}
}

// A recording of the machine has the process among others, and an interrupt ends it.
func TestSystemMachine(t *testing.T) {
	b := startBusy(t)
	path := filepath.Join(t.TempDir(), "all.nettrace")
	cmd, rest := recordSystem(t, "-o", path)
	b.work(t)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	text := rest()
	if code := exitCodeOf(t, cmd.Wait()); code != 0 && !strings.Contains(text, "records were lost") {
		t.Fatalf("exit code %d, %s", code, text)
	}
	b.in.Close()
	if err := b.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	its, all := sampledOf(t, path, b.cmd.Process.Pid)
	if its > all {
		t.Errorf("%.0f of %.0f ms", its, all)
	}
	checkBusy(t, its, b)
}

// A process that is not there is an error that says so, and leaves no file.
func TestSystemNobody(t *testing.T) {
	startBusy(t)
	path := filepath.Join(t.TempDir(), "none.nettrace")
	out, err := etwProcess(t, "collect", "--system", "-p", "1073741824", "-o", path).CombinedOutput()
	if code := exitCodeOf(t, err); code != cli.ExitTrouble || !strings.Contains(string(out), "no process") {
		t.Errorf("exit code %d, %s", code, out)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}

// A systemAnswer is the part of the answers' JSON that is read.
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

// ask runs a command on a trace.
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
