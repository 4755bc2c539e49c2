// Package docs holds the pages of the module against what they speak of: links
// lead somewhere, commands run and print what the page shows, code compiles.
package docs

import (
	"bytes"
	"encoding/json"
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
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

const root = "../.."

var link = regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)

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
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			}
		}
		return nil
	})
	if err != nil || links == 0 {
		t.Errorf("%d links, %v", links, err)
	}
}

// A path in a sentence is in backquotes and has a slash.
var pathInText = regexp.MustCompile("`([a-z]+/[A-Za-z0-9_.*/-]*)`")

// TestPaths checks that the files and folders that pages name are there.
func TestPaths(t *testing.T) {
	paths := 0
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/performance.md", "docs/robustness.md"} {
		for _, m := range pathInText.FindAllStringSubmatch(withoutOwn(page(t, filepath.Join(root, name))), -1) {
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

// Commands of the README that are not run here: the tests themselves.
var runElsewhere = []string{"go generate ./...", "go test ./..."}

// TestCommands runs the README's commands. A line of output that is "..." stands
// for any lines.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	ran := 0
	for _, c := range commands(readme(t)) {
		if slices.ContainsFunc(runElsewhere, func(s string) bool { return strings.HasPrefix(c.line, s) }) {
			continue
		}
		ran++
		args := words(c.line)
		if args[0] != "go" {
			t.Errorf("no test runs %q", c.line)
			continue
		}
		switch args[1] {
		case "test":
			args = slices.Insert(args, 2, "-short", "-v")
		case "install": // all of it but the place
			args = []string{"go", "build", "-o", t.TempDir(), args[2]}
		}
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", c.line, err, out)
		}
		if args[1] == "test" && !bytes.Contains(out, []byte("--- PASS")) {
			t.Errorf("%s runs no test", c.line)
		}
		if c.output != nil && !matches(strings.Split(strings.TrimRight(string(out), "\n"), "\n"), c.output) {
			t.Errorf("%s printed\n%s\nnot\n%s", c.line, out, strings.Join(c.output, "\n"))
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were found", ran)
	}
}

// A command is a line of the README, and what the README says it prints.
type command struct {
	line   string
	output []string
}

var (
	comment    = regexp.MustCompile(`\s+#.*`)
	inlineCode = regexp.MustCompile("`(go [^`]+)`")
)

// commands returns those of indented blocks and those within sentences.
func commands(md string) []command {
	var cs []command
	fenced := false
	shown := -1 // the command whose output the block shows
	for line := range strings.Lines(md) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case fenced:
		case !indented:
			shown = -1
			for _, m := range inlineCode.FindAllStringSubmatch(line, -1) {
				cs = append(cs, command{line: m[1]})
			}
		case strings.HasPrefix(code, "$ "):
			shown = len(cs)
			cs = append(cs, command{line: code[2:]})
		case shown >= 0:
			cs[shown].output = append(cs[shown].output, code)
		default:
			cs = append(cs, command{line: comment.ReplaceAllString(code, "")})
		}
	}
	return cs
}

// words splits a command line as a shell does, as far as the README goes.
func words(line string) []string {
	var ws []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			ws = append(ws, part)
		} else {
			ws = append(ws, strings.Fields(part)...)
		}
	}
	return ws
}

func matches(got, want []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if strings.TrimSpace(want[0]) == "..." {
		for i := range len(got) + 1 {
			if matches(got[i:], want[1:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && strings.TrimRight(got[0], " ") == strings.TrimRight(want[0], " ") && matches(got[1:], want[1:])
}

// TestFirstProgram compiles the README's first program as it stands there, and
// runs it on a trace.
func TestFirstProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	_, body, _ := strings.Cut(page(t, filepath.Join(root, "README.md")), "```go\n")
	body, _, ok := strings.Cut(body, "```")
	if !ok || !strings.Contains(body, "etw.Handle") {
		t.Fatalf("the README begins with no program: %q", body)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	write(t, source, `package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

func main() {
`+body+"}\n")

	// The overlay puts the file into the module without writing there.
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, "tests", "docs", "first", "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, "first")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "./first").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, run := range []struct {
		trace  string
		pauses int
	}{
		{filepath.Join(root, "tests/recorded/gc.nettrace"), 5},
		{sampled(t), 1}, // of its two suspensions one is a profiler's
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

// sampled writes a trace of a program whose threads a profiler samples: it
// suspends the program for each sample, as a collection does.
func sampled(t *testing.T) string {
	t.Helper()
	w := nettracetest.NewWriter(4, nettracetest.Trace{Frequency: 1e6, Pointer: etw.Ptr64})
	at := int64(0)
	for _, reason := range []clr.GCSuspendEEReason{clr.GCSuspendEEReasonSuspendOther, clr.GCSuspendEEReasonSuspendForGC} {
		for _, e := range []etw.Event{&clr.GCSuspendEEBeginV1{Reason: reason}, &clr.GCRestartEEEndV1{}} {
			d := e.EventDesc()
			payload, err := e.AppendPayload(nil, etw.Ptr64)
			if err != nil {
				t.Fatal(err)
			}
			at += 100
			row := uint32(at)
			w.Metadata(nettracetest.Row{ID: row, Provider: d.Provider.Name, EventID: uint32(d.ID), Version: uint32(d.Version)})
			w.Events(nettracetest.Event{Metadata: row, Time: at, Thread: 1, SortPoint: true, Payload: payload})
		}
	}
	w.End()
	path := filepath.Join(t.TempDir(), "sampled.nettrace")
	write(t, path, string(w.Bytes()))
	return path
}

// TestOwnManifest does what the README says of a module with a manifest of its
// own, file by file and command by command.
func TestOwnManifest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	_, section, _ := strings.Cut(page(t, filepath.Join(root, "README.md")), ownSection)
	section, _, _ = strings.Cut(section, "\n## ")
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blocks := strings.Split(section, "```")
	if len(blocks) != 7 {
		t.Fatalf("the section has %d blocks", len(blocks)/2)
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
	for line := range strings.Lines(blocks[6]) {
		command, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(command, "=../etwgen", "="+module))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
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
	if want := "My-Shop Sold Article=tea Pieces=2\n"; string(out) != want {
		t.Errorf("the program prints %q, want %q", out, want)
	}
}

// TestExcerpts checks that the other code of the README is in the files that it
// was taken from, line by line.
func TestExcerpts(t *testing.T) {
	sources := page(t, filepath.Join(root, "generated/clr/clr.man")) + page(t, filepath.Join(root, "generated/clr/garbagecollection.etw.go")) +
		page(t, filepath.Join(root, "examples/custom/events/doc.go"))
	have := map[string]bool{}
	for line := range strings.Lines(sources) {
		line = strings.TrimSuffix(strings.TrimSpace(line), " {") // of a function, the README shows the head
		have[strings.Join(strings.Fields(line), " ")] = true
	}
	blocks := strings.Split(readme(t), "```")
	checked := 0
	for i := 3; i < len(blocks); i += 2 { // the first block is the program
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

const ownSection = "\n## Your own manifest\n"

// withoutOwn leaves out the section about the user's own module, which
// TestOwnManifest is for.
func withoutOwn(text string) string {
	before, after, _ := strings.Cut(text, ownSection)
	_, after, _ = strings.Cut(after, "\n## ")
	return before + "\n## " + after
}

// readme returns the README but for that section.
func readme(t *testing.T) string { return withoutOwn(page(t, filepath.Join(root, "README.md"))) }

func page(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
