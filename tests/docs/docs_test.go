// Package docs holds the pages of the module against their subjects: links lead somewhere,
// commands run and print the output on the page, code compiles.
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/dotnet/hosting"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

const root = "../.."

var link = regexp.MustCompile(`\]\(([^)#]*)(#[^)]*)?\)`)

// TestLinks checks that the files to which pages link are there, with the headings.
func TestLinks(t *testing.T) {
	links := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(page(t, path), -1) {
			links++
			if strings.Contains(m[1], "://") {
				continue
			}
			to := filepath.Join(filepath.Dir(path), m[1])
			if m[1] == "" {
				to = path
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchors(page(t, to)), m[2]) {
				t.Errorf("%s links to %s, which has no heading %s", path, m[1], m[2])
			}
		}
		return nil
	})
	if err != nil || links == 0 {
		t.Errorf("%d links, %v", links, err)
	}
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

// anchors returns the links of the headings of a page, and the places that it names itself.
func anchors(md string) []string {
	var names []string
	for line := range strings.Lines(md) {
		if text := strings.TrimLeft(line, "#"); text != line && strings.HasPrefix(text, " ") {
			text = notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
			names = append(names, "#"+strings.ReplaceAll(text, " ", "-"))
		}
	}
	for _, m := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(md, -1) {
		names = append(names, "#"+m[1])
	}
	return names
}

// A path in a sentence is in backquotes and has a slash.
var pathInText = regexp.MustCompile("`([a-z]+/[A-Za-z0-9_.*/-]*)`")

// TestPaths checks that the files and folders that pages name are there.
func TestPaths(t *testing.T) {
	paths := 0
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/README.md", "docs/guide-agent.md", "docs/guide-manifest.md", "docs/performance.md", "docs/robustness.md", "docs/attacks.md"} {
		for _, m := range pathInText.FindAllStringSubmatch(page(t, filepath.Join(root, name)), -1) {
			paths++
			found, err := filepath.Glob(filepath.Join(root, strings.TrimSuffix(m[1], "...")))
			if err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there (%v)", name, m[1], err)
			}
		}
	}
	if paths < 20 {
		t.Errorf("only %d paths were found", paths)
	}
}

// TestFirstProgram compiles the first program of the guide for agents as it stands
// there, and runs it on a trace.
func TestFirstProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	_, body, _ := strings.Cut(page(t, filepath.Join(root, "docs/guide-agent.md")), "```go\n")
	body, _, ok := strings.Cut(body, "```")
	if !ok || !strings.Contains(body, "etw.Handle") {
		t.Fatalf("the guide begins with no program: %q", body)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	write(t, source, body)

	overlay := overlaid(t, dir, "first", source)
	program := filepath.Join(dir, "first")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./first").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, run := range []struct {
		trace  string
		pauses int
	}{
		{filepath.Join(root, "tests/recorded/gc.nettrace"), 5},
		{sampled(t), 1},    // of its two suspensions one is a profiler's
		{sideBySide(t), 2}, // of two runtimes, one within the other
	} {
		write(t, filepath.Join(dir, "app.nettrace"), page(t, run.trace))
		cmd := exec.Command(program)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(fmt.Sprintf(`(?m)\A(paused \d+.*s\n){%d}\z`, run.pauses)).Match(out) {
			t.Errorf("%s: %v\n%s", run.trace, err, out)
		}
	}
}

// overlaid returns an overlay that puts a file into the module, as a package beside this one,
// without writing there.
func overlaid(t *testing.T, dir, name, source string) string {
	t.Helper()
	module := testio.Abs(t, root)
	text := testio.Marshal(t, map[string]any{"Replace": map[string]string{filepath.Join(module, "tests", "docs", name, "main.go"): source}})
	overlay := filepath.Join(dir, "overlay.json")
	write(t, overlay, string(text))
	return overlay
}

// TestConsumers compiles the lines of the README that take records to handlers.
func TestConsumers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	_, door, _ := strings.Cut(page(t, filepath.Join(root, "README.md")), "**I write an agent**")
	_, lines, _ := strings.Cut(door, "```go\n")
	lines, _, ok := strings.Cut(lines, "```")
	if !ok || strings.Count(lines, "\n") != 4 {
		t.Fatalf("it has other lines: %q", lines)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	write(t, source, `package consumers

import (
	"context"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventrecord"
	"github.com/etwgen/etwgen/runtime/session"
	"github.com/etwgen/etwgen/trace"
)

var _ = func(ctx context.Context, mux *etw.Mux, t *trace.Trace, s *session.Session, r etw.Record, p unsafe.Pointer) (err error) {
`+lines+`
	return err
}
`)
	if out, err := exec.Command("go", "build", "-overlay", overlaid(t, dir, "consumers", source), "./consumers").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// sampled writes a trace of a program whose threads a profiler samples: it
// suspends the program for each sample, as a collection does, and takes a stack.
// Meanwhile the program serves a request.
func sampled(t *testing.T) string {
	t.Helper()
	w := nettracetest.NewWriter(4, nettracetest.Trace{Frequency: 1e6, Pointer: etw.Ptr64})
	at := int64(0)
	for _, reason := range []clr.GCSuspendEEReason{clr.GCSuspendEEReasonSuspendOther, clr.GCSuspendEEReasonSuspendForGC} {
		for _, e := range []etw.Event{&clr.GCSuspendEEBeginV1{Reason: reason}, &clr.GCRestartEEEndV1{}} {
			d := e.EventDesc()
			payload := testio.Payload(t, e, etw.Ptr64)
			at += 100
			row := uint32(at)
			w.Metadata(nettracetest.Row{ID: row, Provider: d.Provider.Name, EventID: uint32(d.ID), Version: uint32(d.Version)})
			w.Events(nettracetest.Event{Metadata: row, Time: at, Thread: 1, SortPoint: true, Payload: payload})
		}
	}
	w.Stacks(1, []uint64{0x2010, 0x1010})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Microsoft-DotNETCore-SampleProfiler", Name: "ThreadSample"})
	// The runtime ends the path of an activity with a sum of its words.
	request := etw.GUID{0: 0x11, 12: 0xbe, 13: 0x99, 14: 0x9d, 15: 0x59}
	w.Metadata(nettracetest.Row{ID: 2, Provider: hosting.Provider.Desc.Name, EventID: 3, Name: "RequestStart", Level: 4, Tags: []nettracetest.Tag{nettracetest.OpcodeTag(1)},
		Fields: []nettracetest.Field{{Name: "method", Type: 18}, {Name: "path", Type: 18}}})
	w.Metadata(nettracetest.Row{ID: 3, Provider: hosting.Provider.Desc.Name, EventID: 4, Name: "RequestStop", Level: 4, Tags: []nettracetest.Tag{nettracetest.OpcodeTag(2)}})
	w.Events(nettracetest.Event{Metadata: 2, Time: at, Thread: 1, Activity: request, SortPoint: true, Payload: utf16("GET", "/slow")})
	for range 3 {
		at += 1000
		w.Events(nettracetest.Event{Metadata: 1, Time: at, Thread: 1, Stack: 1, SortPoint: true, Payload: []byte{2, 0, 0, 0}})
	}
	w.Events(nettracetest.Event{Metadata: 3, Time: at + 1000, Thread: 1, Activity: request, SortPoint: true})
	w.End()
	path := filepath.Join(t.TempDir(), "sampled.nettrace")
	write(t, path, string(w.Bytes()))
	return path
}

// sideBySide writes a trace of a process with two runtimes, of which a thread suspends one
// while it has the other suspended, as it can where one calls the other.
func sideBySide(t *testing.T) string {
	t.Helper()
	w := nettracetest.NewWriter(4, nettracetest.Trace{Frequency: 1e6, Pointer: etw.Ptr64})
	for i, e := range []etw.Event{
		&clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC, ClrInstanceID: 9},
		&clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC, ClrInstanceID: 10},
		&clr.GCRestartEEEndV1{ClrInstanceID: 10},
		&clr.GCRestartEEEndV1{ClrInstanceID: 9},
	} {
		d, row := e.EventDesc(), uint32(i+1)
		payload := testio.Payload(t, e, etw.Ptr64)
		w.Metadata(nettracetest.Row{ID: row, Provider: d.Provider.Name, EventID: uint32(d.ID), Version: uint32(d.Version)})
		w.Events(nettracetest.Event{Metadata: row, Time: int64(100 * row), Thread: 1, SortPoint: true, Payload: payload})
	}
	w.End()
	path := filepath.Join(t.TempDir(), "several.nettrace")
	write(t, path, string(w.Bytes()))
	return path
}

// utf16 returns texts as events have them: in UTF-16, with a zero at the end.
func utf16(texts ...string) []byte {
	var b []byte
	for _, text := range texts {
		for _, c := range []byte(text + "\x00") {
			b = append(b, c, 0)
		}
	}
	return b
}

// TestOwnManifest does what the README begins with, a module with a manifest of its own,
// file by file and command by command.
func TestOwnManifest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	opening, _, _ := strings.Cut(page(t, filepath.Join(root, "README.md")), "\n![")
	module := testio.Abs(t, root)
	dir := t.TempDir()
	blocks := strings.Split(opening, "```")
	if len(blocks) != 9 {
		t.Fatalf("it has %d blocks", len(blocks)/2)
	}
	for i, name := range []string{"events/shop.man", "events/doc.go", "main.go"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(blocks[2*i+1], "\n")
		write(t, path, text)
	}
	var out []byte
	_, commands, _ := strings.Cut(blocks[7], "\n")
	for command := range strings.Lines(commands) {
		args := strings.Fields(strings.ReplaceAll(command, "=../etwgen", "="+module))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		var err error
		if out, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.TrimSpace(command), err, out)
		}
	}
	tidy := exec.Command("go", "mod", "tidy", "-diff")
	tidy.Dir = dir
	tidy.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if diff, err := tidy.CombinedOutput(); err != nil {
		t.Errorf("the module is not tidy: %v\n%s", err, diff)
	}
	// It prints the comments of its own lines.
	var want strings.Builder
	for line := range strings.Lines(blocks[5]) {
		if _, comment, ok := strings.Cut(line, " // "); ok {
			want.WriteString(comment)
		}
	}
	if string(out) != want.String() || len(out) == 0 {
		t.Errorf("the program prints %q, want %q", out, want.String())
	}
}

// TestExcerpts checks that excerpts of generated code in the guide are in their files, line
// by line.
func TestExcerpts(t *testing.T) {
	sources := page(t, filepath.Join(root, "generated/clr/clr.man")) + page(t, filepath.Join(root, "generated/clr/garbagecollection.etw.go"))
	have := map[string]bool{}
	for line := range strings.Lines(sources) {
		line = strings.TrimSuffix(strings.TrimSpace(line), " {") // of a function, the guide shows the head
		have[strings.Join(strings.Fields(line), " ")] = true
	}
	_, section, _ := strings.Cut(page(t, filepath.Join(root, "docs/guide-manifest.md")), "\n## The generated package\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```")
	checked := 0
	for i := 1; i < len(blocks); i += 2 {
		_, code, _ := strings.Cut(blocks[i], "\n")
		for line := range strings.Lines(code) {
			line = strings.Join(strings.Fields(line), " ")
			before, _, elided := strings.Cut(line, "...")
			found := have[line] || have[strings.TrimSuffix(line, " {")]
			for h := range have {
				found = found || elided && strings.HasPrefix(h, strings.TrimSpace(before))
			}
			if line != "" && !found {
				t.Errorf("%q is in no file", line)
			}
			checked++
		}
	}
	if checked < 10 {
		t.Errorf("only %d lines were found", checked)
	}
}

func page(t *testing.T, path string) string {
	t.Helper()
	return string(testio.Read(t, path))
}

func write(t *testing.T, path, data string) {
	t.Helper()
	testio.Write(t, path, data)
}
