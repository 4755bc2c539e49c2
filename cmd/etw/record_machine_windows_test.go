package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/windows"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/trace"
)

// manyEvents take several megabytes.
const manyEvents = 40000

// recordMany records while this program writes events, which are numbered, and returns how
// many it has written and the output of etw.
func recordMany(t *testing.T, p *provider.Provider, args ...string) (written uint32, said string, code int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	count := make(chan uint32, 1)
	go func() {
		for ctx.Err() == nil && !p.Enabled(4, 1) {
			time.Sleep(time.Millisecond)
		}
		n := uint32(0)
		for ; n < manyEvents && p.Enabled(4, 1); n++ {
			if p.Write(ctx, &clr.GCStartV1{Count: n}) != nil {
				break
			}
		}
		count <- n
	}()
	var out bytes.Buffer
	code = run(append([]string{"record", "--providers", "clr:gc:informational", "--rundown", "none", "--duration", "2s"}, args...), strings.NewReader(""), &out, &out)
	cancel()
	return <-count, out.String(), code
}

// numbersIn returns the first and the last number of the events in files, and fails if one
// between them is not there, or comes at another place.
func numbersIn(t *testing.T, files ...string) (first, last uint32, any bool) {
	t.Helper()
	f := testio.Open(t, trace.OpenAll, files)
	defer f.Close()
	var mux etw.Mux
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		if any && e.Count != last+1 {
			t.Fatalf("%v: event %d follows %d", files, e.Count, last)
		}
		if !any {
			first, any = e.Count, true
		}
		last = e.Count
		return nil
	})
	if err := mux.Run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return first, last, any
}

// TestRecordMachine records to files of all modes. It takes an ETW to test with, as those
// of tests/live do.
func TestRecordMachine(t *testing.T) {
	if os.Getenv("ETWGEN_ETW") == "" {
		t.Skip("ETWGEN_ETW is not set: no ETW to test with")
	}
	p := provider.New(clr.Provider.Desc)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct {
		mode string
		args []string
	}{{"all", nil}, {windows.ModeSequential, []string{"--max-size", "1M"}}, {windows.ModeCircular, []string{"--max-size", "1M", "--mode", windows.ModeCircular}},
		{windows.ModeNewFile, []string{"--max-size", "1M", "--mode", windows.ModeNewFile}}} {
		t.Run(c.mode, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "record")
			if err != nil {
				t.Fatal(err)
			}
			defer os.Remove(dir)
			written, said, code := recordMany(t, p, append(c.args, "-o", filepath.Join(dir, "r.etl"))...)
			files, err := filepath.Glob(filepath.Join(dir, "*.etl"))
			if err != nil || len(files) == 0 {
				t.Fatalf("exit code %d, no file: %s", code, said)
			}
			defer func() { // one by one: wine cannot remove a folder with all in it
				for _, path := range files {
					os.Remove(path)
				}
			}()
			first, last, any := numbersIn(t, files...)
			whole := written == manyEvents
			if !any && !whole {
				t.Skip("the machine was too busy to write an event in time")
			}
			if !any || last >= written {
				t.Fatalf("exit code %d, events %d to %d of %d: %s", code, first, last, written, said)
			}
			lost := c.mode == windows.ModeSequential && whole
			if (code != 0) != lost && whole || strings.Contains(said, "not all was recorded") != (code != 0) {
				t.Errorf("exit code %d: %s", code, said)
			}
			if first > 0 != (c.mode == windows.ModeCircular) && whole || whole && !lost && last != written-1 {
				t.Errorf("events %d to %d of %d", first, last, written)
			}
			if len(files) > 1 != (c.mode == windows.ModeNewFile) && whole {
				t.Errorf("files %q", files)
			}
			for _, path := range files {
				if info, err := os.Stat(path); err != nil || len(c.args) > 0 && info.Size() > 1<<20 {
					t.Errorf("%s has %d bytes, %v", path, info.Size(), err)
				}
			}
			t.Logf("%d files with events %d to %d of %d: %s", len(files), first, last, written, strings.TrimSpace(said))
		})
	}
}

// TestCheckMachine tries a recording, which leaves nothing behind but what it says.
func TestCheckMachine(t *testing.T) {
	if os.Getenv("ETWGEN_ETW") == "" {
		t.Skip("ETWGEN_ETW is not set: no ETW to test with")
	}
	p := provider.New(clr.Provider.Desc)
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dir, err := os.MkdirTemp("", "check")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	written, said, code := recordMany(t, p, "--check", "-o", filepath.Join(dir, "r.etl"))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
	if written < manyEvents {
		t.Skip("the machine was too busy to write all events in time")
	}
	fields := strings.Fields(said[max(strings.Index(said, "\nMicrosoft-Windows-DotNETRuntime"), 0):])
	if want := strconv.Itoa(manyEvents); code != 0 || len(fields) < 3 || fields[0] != clr.Provider.Desc.Name || fields[2] != want || !strings.Contains(said, "a minute of it would be some ") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, said, code := recordMany(t, p, "--check", "--name", strings.Repeat("x", 2000)); code == 0 {
		t.Errorf("a name that is too long: %s", said)
	}
	t.Log(said)
}
