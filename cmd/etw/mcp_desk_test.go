package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/assist"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/internal/testio"
)

// deskOf returns a desk for a new folder with a trace, and that folder.
func deskOf(t *testing.T) (*desk.Desk, string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "gc.nettrace"), recorded(t, "gc.nettrace"))
	d, err := desk.New(runIn, []string{root}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return d, root
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	testio.Write(t, path, data)
}

// askTool asks a tool of a desk.
func askTool(t *testing.T, d *desk.Desk, name string, in map[string]any) (*told, error) {
	t.Helper()
	for _, x := range assist.Tools(newRoot()) {
		if x.Name != name {
			continue
		}
		text, err := x.Call(t.Context(), d, in)
		answer := &told{text: string(text)}
		if err == nil {
			err = json.Unmarshal(text, answer)
		}
		return answer, err
	}
	t.Fatalf("there is no tool %s", name)
	return nil, nil
}

// TestDeskSwapped: a handle does not lead out of the folders, whatever became of the path.
func TestDeskSwapped(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links are for administrators")
	}
	outside := filepath.Join(t.TempDir(), "gc.nettrace")
	write(t, outside, recorded(t, "gc.nettrace"))
	d, root := deskOf(t)
	path := filepath.Join(root, "gc.nettrace")
	if _, err := askTool(t, d, "open_trace", map[string]any{"trace": "gc.nettrace"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Fatal(err)
	}
	if got, err := askTool(t, d, "exceptions", map[string]any{"trace": "t1"}); err == nil {
		t.Errorf("read outside: %s", got.text)
	}
	// As if it had been swapped after the look at it.
	if r, err := d.Ask(t.Context(), d.Traces[0], []string{"gc", "--format=json", "--", path}); err == nil {
		t.Errorf("read outside: %v", r.Doc.Find("/gcs"))
	}
}

// TestDeskLimits: an answer says where it ends before its trace does.
func TestDeskLimits(t *testing.T) {
	d, _ := deskOf(t)
	got, err := askTool(t, d, "dump", map[string]any{"trace": "gc.nettrace", "limit": 5.0})
	if err != nil || got.Trace.Events != nil || len(got.Rows) != 5 || !strings.Contains(fmt.Sprint(got.Warnings), "the first 5 events alone") {
		t.Errorf("%v: %s", err, got.text)
	}
	x, err := d.Trace("t1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Ask(t.Context(), x, []string{"stat", "--format=json", "--top=3", "--", x.Path})
	if err != nil || len(r.Doc.Find("/warnings").Items) != 1 || !strings.Contains(r.Doc.Find("/warnings/0").String(), "the first 3 of 26 rows") {
		t.Errorf("%v: %s", err, new(desk.Bounds).Document(r.Doc, ""))
	}
}

// TestDeskFew: an answer of few rows is short.
func TestDeskFew(t *testing.T) {
	d, _ := deskOf(t)
	got, err := askTool(t, d, "gc", map[string]any{"trace": "gc.nettrace", "rows": 1.0})
	if err != nil || len(got.Rows) != 1 || !strings.Contains(got.text, `/gcs","shown":1`) {
		t.Errorf("%v: %s", err, got.text)
	}
}

// TestDeskInputs takes inputs as assistants have them.
func TestDeskInputs(t *testing.T) {
	d, _ := deskOf(t)
	text, err := askTool(t, d, "gc", map[string]any{"trace": "gc.nettrace", "from": "14.6ms", "to": "14.8ms"})
	if err != nil || len(text.Rows) == 0 {
		t.Fatal(text.text, err)
	}
	number, err := askTool(t, d, "gc", map[string]any{"trace": "gc.nettrace", "from": 14.6, "to": 14.8})
	if err != nil || toJSON(t, number.Rows) != toJSON(t, text.Rows) {
		t.Errorf("%v: %s", err, number.text)
	}
	if got, err := askTool(t, d, "stat", map[string]any{"trace": "t1", "event": "GC/Start", "process": 27204.0}); err != nil || len(got.Rows) == 0 {
		t.Errorf("%v: %s", err, got.text)
	}
}

// TestDeskTraces: the trace that was used longest ago makes room for another.
func TestDeskTraces(t *testing.T) {
	d, root := deskOf(t)
	for i := range desk.MostTraces {
		write(t, filepath.Join(root, fmt.Sprint(i, ".nettrace")), nil)
	}
	if _, err := askTool(t, d, "open_trace", map[string]any{"trace": "0.nettrace"}); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("an empty file: %v", err)
	}
	for _, path := range []string{"gc.nettrace", "0.nettrace", "gc.nettrace"} {
		if _, err := d.Trace(path); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < desk.MostTraces; i++ {
		if _, err := d.Trace(fmt.Sprint(i, ".nettrace")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Trace("t2"); err != nil || len(d.Traces) != desk.MostTraces {
		t.Errorf("%d traces: %v", len(d.Traces), err)
	}
	if _, err := d.Trace("t3"); err == nil || !strings.Contains(err.Error(), `there is no open trace "t3"`) {
		t.Errorf("the trace that was used longest ago: %v", err)
	}
	list, err := askTool(t, d, "list_traces", nil)
	if err != nil || !strings.Contains(list.text, `"handle":"t2"`) {
		t.Errorf("%v: %s", err, list.text)
	}
}

// TestDeskTimeout: an answer of a part says so first.
func TestDeskTimeout(t *testing.T) {
	d, _ := deskOf(t)
	d.Limit = time.Nanosecond
	for _, tool := range []string{"open_trace", "gc"} {
		got, err := askTool(t, d, tool, map[string]any{"trace": "gc.nettrace"})
		if said := fmt.Sprint(got.Warnings, err); !strings.Contains(said, "stopped after 1ns, the --timeout of this server") {
			t.Errorf("%s: %s %s", tool, said, got.text)
		}
	}
	if _, stderr, code := output("mcp", "--timeout=-1s"); code != 2 || !strings.Contains(stderr, "--timeout") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
