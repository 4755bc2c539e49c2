package docs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/eventpipe/eventpipetest"
)

// frontDoor are the pages of which every command is run.
var frontDoor = []string{"README.md", "docs/README.md", "docs/guide-trace.md", "docs/guide-process.md", "docs/guide-manifest.md", "docs/guide-agent.md", "docs/recipes.md"}

// TestCommands runs the commands of the front door, each page in a folder of its own, as
// a shell does. A line of output that is "..." stands for any lines.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	if runtime.GOOS == "windows" {
		t.Skip("commands are for a shell")
	}
	bin := programs(t)
	for _, name := range frontDoor {
		t.Run(filepath.Base(name), func(t *testing.T) {
			cs := commands(page(t, filepath.Join(root, name)))
			dir := place(t)
			for _, c := range cs {
				c.check(t, bin, dir)
			}
			if len(cs) == 0 && name != "docs/README.md" {
				t.Error("the page has no commands")
			}
		})
	}
}

// TestMain removes the programs built.
func TestMain(m *testing.M) {
	code := m.Run()
	if tools != "" {
		os.RemoveAll(tools)
	}
	os.Exit(code)
}

var (
	once  sync.Once
	tools string
)

// programs builds the two tools, once for all tests, and returns their folder.
func programs(t *testing.T) string {
	t.Helper()
	once.Do(func() {
		dir, err := os.MkdirTemp("", "etw-*")
		if err != nil {
			t.Fatal(err)
		}
		tools = dir
		cmd := exec.Command("go", "build", "-ldflags=-w", "-o", dir+string(filepath.Separator), "./cmd/etw", "./cmd/etwgen")
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	return tools
}

// place returns a folder that looks like a clone, with the files that pages call the
// user's own.
func place(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	module := testio.Abs(t, root)
	for _, name := range []string{"tests", "examples"} {
		if err := os.Symlink(filepath.Join(module, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	man := page(t, filepath.Join(root, "examples/service/events/service.man"))
	for _, name := range []string{"old.man", "new.man", "shop.man"} {
		write(t, filepath.Join(dir, name), man)
	}
	etl := testio.Encoded(t, etltest.File, etltest.DefaultHeader())
	write(t, filepath.Join(dir, "trace.etl"), string(etl))
	return dir
}

var (
	goTest    = regexp.MustCompile(`^go test -run '?([^' ]+)'? (.*)$`)
	goInstall = regexp.MustCompile(`^go install (.*)$`)
	wholeTree = regexp.MustCompile(`^go (generate|test) \./\.\.\.$`)
	firstStep = regexp.MustCompile(`^(git clone https://github.com/etwgen/etwgen && cd etwgen|export PATH=.*)$`)
	atVersion = regexp.MustCompile(`^(?:install|get) github.com/etwgen/etwgen(/\S+)?@(v\S+)$`)
)

// check runs a command, or checks by its names that it will run.
func (c command) check(t *testing.T, bin, dir string) {
	t.Helper()
	c.line = strings.TrimPrefix(c.line, "CGO_ENABLED=0 ")
	words := strings.Fields(c.line)
	switch {
	case firstStep.MatchString(c.line): // place and run have done it
	case wholeTree.MatchString(c.line): // which CI does
		m := wholeTree.FindStringSubmatch(c.line)
		if !regexp.MustCompile(`(?m)^go ` + m[1] + ` (.* )?\./\.\.\.$`).MatchString(page(t, filepath.Join(root, ".ci/run"))) {
			t.Errorf("%s is not what CI runs", c.line)
		}
	case words[0] == "go" && atVersion.MatchString(strings.Join(words[1:], " ")):
		c.checkVersion(t, atVersion.FindStringSubmatch(strings.Join(words[1:], " ")))
	case goTest.MatchString(c.line):
		m := goTest.FindStringSubmatch(c.line)
		if !hasTest(t, m[1], strings.Fields(m[2])) {
			t.Errorf("%s runs no test", c.line)
		}
	case goInstall.MatchString(c.line), strings.HasPrefix(c.line, "go doc "): // programs are built by programs
		for _, path := range words[2:] {
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %v", c.line, err)
			}
		}
	case strings.HasPrefix(c.line, "go env "):
	default:
		c.run(t, bin, dir)
	}
}

// checkVersion checks the demands of go install with a version: the path of the module, and
// no replacements in its go.mod.
func (c command) checkVersion(t *testing.T, match []string) {
	t.Helper()
	mod := page(t, filepath.Join(root, "go.mod"))
	if !strings.HasPrefix(mod, "module github.com/etwgen/etwgen\n") || regexp.MustCompile(`(?m)^(replace|exclude)\b`).MatchString(mod) {
		t.Errorf("%s: go.mod does not allow it", c.line)
	}
	if !strings.Contains(page(t, filepath.Join(root, "CHANGELOG.md")), "\n## "+strings.TrimPrefix(match[2], "v")) {
		t.Errorf("%s: CHANGELOG.md has no such version", c.line)
	}
	if path := filepath.Join(root, strings.TrimSuffix(match[1], "...")); match[1] != "" {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
	}
}

// hasTest reports whether a package has a test that a pattern chooses. The tests of that
// package hold that it passes.
func hasTest(t *testing.T, pattern string, packages []string) bool {
	t.Helper()
	chosen := regexp.MustCompile(strings.ReplaceAll(pattern, `\|`, "|"))
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)
	for _, p := range packages {
		folder, below := strings.CutSuffix(p, "/...")
		found := false
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && !below && path != filepath.Join(root, folder):
				return filepath.SkipDir
			case !strings.HasSuffix(path, "_test.go"):
				return nil
			}
			for _, m := range declared.FindAllStringSubmatch(page(t, path), -1) {
				found = found || chosen.MatchString(m[1])
			}
			return nil
		})
		if err != nil || !found {
			t.Errorf("%s: no test of %s (%v)", pattern, p, err)
			return false
		}
	}
	return true
}

// livePlace is how pages name a live process.
var livePlace = regexp.MustCompile(`-p 1234\b`)

// played are the recordings that a process plays, by command: by default samples.
var played = map[string]string{
	"gc": "gc.nettrace", "allocs": "alloc.nettrace", "heap": "heapdump.nettrace",
	"threadpool": "answers/pool-10.nettrace", "requests": "answers/requests-10.nettrace",
	"waits": "answers/locks-10.nettrace", "tree": "alloc.nettrace",
	"counters": "answers/counters-10.nettrace", "watch": "exceptions.nettrace", "exceptions": "exceptions.nettrace",
}

func (c command) run(t *testing.T, bin, dir string) {
	t.Helper()
	line := c.line
	if livePlace.MatchString(line) {
		trace := sampled(t)
		if name, ok := played[strings.Fields(line)[1]]; ok {
			trace = filepath.Join(root, "tests/recorded", name)
		}
		if strings.Contains(line, "cause") {
			trace = filepath.Join(root, "tests/recorded/causes/cause-10.nettrace.gz")
		}
		line = livePlace.ReplaceAllLiteralString(line, "--port "+process(t, trace))
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	if strings.HasPrefix(line, "go ") {
		cmd.Dir = root
	}
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	if err != nil || code != c.code {
		t.Errorf("%s: %v, exit code %d, want %d\n%s%s", c.line, err, code, c.code, out, stderr.String())
	}
	if c.output != nil && !matches(strings.Split(strings.TrimRight(string(out), "\n"), "\n"), c.output) {
		t.Errorf("%s printed\n%s\nnot\n%s", c.line, out, strings.Join(c.output, "\n"))
	}
}

// process starts a runtime that plays a trace and then ends, and returns its socket.
func process(t *testing.T, path string) string {
	t.Helper()
	data := []byte(page(t, path))
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	rt := eventpipetest.NewRuntime(10)
	rt.PID = int64(os.Getpid())
	end := len(data) - 1
	rt.Record = func(w io.Writer, stopped <-chan struct{}) {
		if _, err := w.Write(data[:end]); err != nil {
			return
		}
		select {
		case <-stopped:
		case <-time.After(50 * time.Millisecond):
		}
		w.Write(data[end:])
	}
	dir, err := os.MkdirTemp("", "etw") // short: the path of a socket has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	l := testio.Listen(t, "unix", filepath.Join(dir, "port"))
	t.Cleanup(func() {
		l.Close()
		os.RemoveAll(dir)
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go rt.Serve(conn)
		}
	}()
	return filepath.Join(dir, "port")
}

// A command is a line of a page, with the output and exit code that the page gives.
type command struct {
	line   string
	output []string
	code   int
}

var (
	comment    = regexp.MustCompile(`\s+#\s.*`)
	inlineCode = regexp.MustCompile("`((?:CGO_ENABLED=0 go|go|etw|etwgen|head) [^`]+)`( \\(exit code 1\\))?")
)

// isRun reports whether code within a sentence is a command that stands for itself: with
// a file, or a go command, not the name of a command that the text is about.
func isRun(code string) bool {
	return !strings.HasPrefix(code, "etw") || strings.Contains(code, "tests/recorded/") || strings.Contains(code, "examples/")
}

// commands returns those of indented blocks, also in lists, and those within sentences.
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
		case fenced, indented && strings.TrimSpace(code) == "":
		case !indented:
			shown = -1
			for _, m := range inlineCode.FindAllStringSubmatch(line, -1) {
				if isRun(m[1]) {
					cs = append(cs, command{line: strings.ReplaceAll(m[1], `\|`, "|"), code: min(len(m[2]), 1)})
				}
			}
		case strings.HasPrefix(code, "$ "):
			shown = len(cs)
			cs = append(cs, command{line: code[2:]})
		case shown >= 0:
			cs[shown].output = append(cs[shown].output, code)
		default:
			cs = append(cs, command{line: strings.TrimSpace(comment.ReplaceAllString(code, ""))})
		}
	}
	return cs
}

// matches reports whether lines are as a page shows them.
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

// TestNamed checks that the commands and flags that all other pages name are there.
func TestNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	bin := programs(t)
	help := make(map[string]string) // by program and command
	pages := testio.Glob(t, filepath.Join(root, "docs/*.md"))
	named := 0
	for _, path := range pages {
		for _, c := range commands(page(t, path)) {
			words := strings.Fields(c.line)
			if len(words) < 2 || words[0] != "etw" && words[0] != "etwgen" {
				continue
			}
			name := words[0] + " " + words[1]
			if _, ok := help[name]; !ok {
				out, err := exec.Command(filepath.Join(bin, words[0]), "man", words[1]).CombinedOutput() // which has all flags
				if err != nil {
					t.Errorf("%s: %s: %v\n%s", path, c.line, err, out)
				}
				help[name] = strings.ReplaceAll(string(out), `\-`, "-")
			}
			for _, word := range words[2:] {
				if word == "--" || word == "|" || word == "&&" {
					break
				}
				flag, _, _ := strings.Cut(word, "=")
				if strings.HasPrefix(word, "-") && word != "-" && !hasFlag(help[name], flag) {
					t.Errorf("%s: %s: there is no flag %s", path, c.line, flag)
				}
				named++
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d words were found", named)
	}
}

// hasFlag reports whether a page for man has a flag.
func hasFlag(help, flag string) bool {
	return regexp.MustCompile(`(?m)^\.B (-\w, )?` + regexp.QuoteMeta(flag) + `( |$)|^\.B ` + regexp.QuoteMeta(flag) + `,`).MatchString(help)
}

// TestFigures checks that the figures of the README are those of the page that they are
// from.
func TestFigures(t *testing.T) {
	_, table, _ := strings.Cut(page(t, filepath.Join(root, "docs/accuracy-traceevent.md")), "<!-- begin topics -->")
	table, _, _ = strings.Cut(table, "<!-- end topics -->")
	compared, equal := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^\| [a-z ]+ \| \d+ \| (\d+) \| (\d+) \|`).FindAllStringSubmatch(table, -1) {
		n, err1 := strconv.Atoi(m[1])
		same, err2 := strconv.Atoi(m[2])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		compared, equal = compared+n, equal+same
	}
	want := fmt.Sprintf("Of %s figures of real traces %s are those", thousands(compared), thousands(equal))
	if compared == 0 || !strings.Contains(page(t, filepath.Join(root, "README.md")), want) {
		t.Errorf("the README does not say %q", want)
	}
}

// thousands returns a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
