package eventpipe

import (
	"context"
	"encoding/hex"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

var testCLSID = etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")

// A testCommand is a command with the payload that it has, and the version that takes
// it.
type testCommand struct {
	since   int
	payload string
	do      func(ctx context.Context, c *Client) error
}

const textOf = "03000000 2f00 6100 0000" // "/a"

var testCommands = map[uint16]testCommand{
	eventpipetest.GenerateDump: {3, textOf + "02000000 01000000", func(ctx context.Context, c *Client) error {
		return c.WriteDump(ctx, Dump{Path: "/a", Type: DumpHeap, Log: true})
	}},
	eventpipetest.GenerateDump2: {6, textOf + "04000000 06000000", func(ctx context.Context, c *Client) error {
		return c.WriteDump(ctx, Dump{Path: "/a", Type: DumpFull, Verbose: true, CrashReport: true})
	}},
	eventpipetest.AttachProfiler: {3, "0a000000 33221100554477668899aabbccddeeff" + textOf + "02000000 0102", func(ctx context.Context, c *Client) error {
		return c.AttachProfiler(ctx, Profiler{CLSID: testCLSID, Path: "/a", Data: []byte{1, 2}})
	}},
	eventpipetest.StartupProfiler: {6, "33221100554477668899aabbccddeeff" + textOf, func(ctx context.Context, c *Client) error {
		return c.SetStartupProfiler(ctx, Profiler{CLSID: testCLSID, Path: "/a"})
	}},
	eventpipetest.ResumeRuntime:    {5, "", func(ctx context.Context, c *Client) error { return c.Resume(ctx) }},
	eventpipetest.SetEnvironment:   {6, textOf + "00000000", func(ctx context.Context, c *Client) error { return c.SetEnvironment(ctx, "/a", "") }},
	eventpipetest.EnablePerfMap:    {8, "03000000", func(ctx context.Context, c *Client) error { return c.EnablePerfMap(ctx, PerfMapFile) }},
	eventpipetest.DisablePerfMap:   {8, "", func(ctx context.Context, c *Client) error { return c.DisablePerfMap(ctx) }},
	eventpipetest.ApplyStartupHook: {8, textOf, func(ctx context.Context, c *Client) error { return c.ApplyStartupHook(ctx, "/a") }},
	eventpipetest.Environment: {5, "", func(ctx context.Context, c *Client) error {
		list, err := c.Environment(ctx)
		if err == nil && strings.Join(list, ",") != "HOME=/home/app,DOTNET_gcServer=1" {
			err = errors.New("the environment is another one: " + strings.Join(list, ","))
		}
		return err
	}},
}

// unixPaths skips a test whose paths are those of Unix.
func unixPaths(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("/a is no absolute path here")
	}
}

func TestCommands(t *testing.T) {
	unixPaths(t)
	for id, test := range testCommands {
		inBubble(t, func(t *testing.T, ctx context.Context) {
			rt := eventpipetest.NewRuntime(test.since)
			name := command(id).String()
			wantError(t, name, test.do(ctx, pipes(rt)), nil)
			got := rt.Requests()
			want := []eventpipetest.Request{{Command: id, Payload: unhex(t, test.payload)}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			old := eventpipetest.NewRuntime(test.since)
			old.Refuse = map[uint16]uint32{id: uint32(CodeUnknownCommand)}
			err := test.do(ctx, pipes(old))
			wantError(t, name+" of an old runtime", err, errors.ErrUnsupported)
			if err != nil && !strings.Contains(err.Error(), commands[command(id)].since) {
				t.Errorf("%s: %v does not say which version it takes", name, err)
			}
		})
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestResults checks the commands that answer an HRESULT.
func TestResults(t *testing.T) {
	unixPaths(t)
	for id, test := range testCommands {
		if id == eventpipetest.ResumeRuntime || id == eventpipetest.Environment {
			continue
		}
		inBubble(t, func(t *testing.T, ctx context.Context) {
			rt := eventpipetest.NewRuntime(11)
			rt.Result = uint32(CodeFailed)
			var refused *RefusedError
			if err := test.do(ctx, pipes(rt)); !errors.As(err, &refused) || refused.Code != CodeFailed {
				t.Errorf("%v: %v, want %v", command(id), err, CodeFailed)
			}
		})
	}
}

// TestInvalidCommands checks that nothing is sent that makes no sense.
func TestInvalidCommands(t *testing.T) {
	c := &Client{name: "test", connect: func(context.Context) (conn, error) {
		t.Error("an invalid command is sent")
		return nil, errors.New("not now")
	}}
	ctx := context.Background()
	for i, err := range []error{
		c.WriteDump(ctx, Dump{Path: "a", Type: DumpHeap}),
		c.WriteDump(ctx, Dump{Path: "/a"}),
		c.WriteDump(ctx, Dump{Path: "/a", Type: 5}),
		c.WriteDump(ctx, Dump{Path: "/a\x00", Type: DumpHeap}),
		c.AttachProfiler(ctx, Profiler{Path: "/a"}),
		c.AttachProfiler(ctx, Profiler{CLSID: testCLSID}),
		c.AttachProfiler(ctx, Profiler{CLSID: testCLSID, Path: "/a", Data: make([]byte, 1<<16)}),
		c.SetStartupProfiler(ctx, Profiler{CLSID: testCLSID, Path: "a"}),
		c.SetStartupProfiler(ctx, Profiler{CLSID: testCLSID, Path: "/a", Data: []byte{1}}),
		c.SetEnvironment(ctx, "", "x"),
		c.SetEnvironment(ctx, "A=B", "x"),
		c.SetEnvironment(ctx, "A\x00", "x"),
		c.SetEnvironment(ctx, "A", "\xff"),
		c.EnablePerfMap(ctx, 0),
		c.EnablePerfMap(ctx, 4),
		c.ApplyStartupHook(ctx, "hook.dll"),
		c.ApplyStartupHook(ctx, strings.Repeat("/a", 1<<15)),
	} {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%d: %v, want %v", i, err, ErrInvalid)
		}
	}
}

// TestInfo asks runtimes of all ages for their facts.
func TestInfo(t *testing.T) {
	for version, want := range map[int]Info{
		5: {},
		6: {Assembly: "app", Runtime: "9.0.0"},
		9: {Assembly: "app", Runtime: "9.0.0", RID: "linux-x64"},
	} {
		inBubble(t, func(t *testing.T, ctx context.Context) {
			rt := eventpipetest.NewRuntime(version)
			want.PID, want.Cookie, want.CommandLine, want.OS, want.Arch = 4711, rt.Cookie, "dotnet app.dll", "Linux", "x64"
			got, err := pipes(rt).Info(ctx)
			wantError(t, "Info", err, nil)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf(".NET %d (-want +got):\n%s", version, diff)
			}
		})
	}
	inBubble(t, func(t *testing.T, ctx context.Context) {
		_, err := pipes(eventpipetest.NewRuntime(3)).Info(ctx)
		wantError(t, "Info of .NET Core 3.1", err, errors.ErrUnsupported)
	})
}

// TestNoAnswer checks the errors for runtimes that do not answer.
func TestNoAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		rt := eventpipetest.NewRuntime(9)
		rt.Silent = map[uint16]bool{eventpipetest.ResumeRuntime: true}
		rt.Drop = map[uint16]bool{eventpipetest.DisablePerfMap: true}
		c := pipes(rt)
		start := time.Now()
		wantError(t, "a silent runtime", c.Resume(ctx), context.DeadlineExceeded)
		soon(t, start, DefaultTimeout, "the deadline")
		wantError(t, "a runtime that closes", c.DisablePerfMap(ctx), ErrNoAnswer)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		start = time.Now()
		wantError(t, "a deadline", c.Resume(short), context.DeadlineExceeded)
		soon(t, start, time.Second, "the context's deadline")
		canceled, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		start = time.Now()
		wantError(t, "a cancelled command", c.Resume(canceled), context.Canceled)
		soon(t, start, time.Second, "cancelling")
	})
}

// TestBlockedServer checks that a connection which sends nothing makes a command time
// out, and harms nothing once it is gone.
func TestBlockedServer(t *testing.T) {
	inBubble(t, func(t *testing.T, ctx context.Context) {
		c := pipes(eventpipetest.NewRuntime(9))
		idle, err := c.connect(ctx)
		wantError(t, "connecting", err, nil)
		time.Sleep(time.Second) // so that the runtime has it first
		_, err = c.Info(ctx)
		wantError(t, "Info behind an idle connection", err, context.DeadlineExceeded)
		idle.Close()
		_, err = c.Info(ctx)
		wantError(t, "Info", err, nil)
	})
}

func TestCodes(t *testing.T) {
	if got, want := CodeBadEncoding.String(), "bad encoding (0x80131384)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Code(5).String(), "0x5"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
