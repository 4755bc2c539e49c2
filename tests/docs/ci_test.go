package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestOthersCI: the action and the hooks, in a repository as examples/custom is one, let a good
// change pass, and stop one that makes old traces unreadable and leaves the package stale.
func TestOthersCI(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("it builds etwgen in another module, and runs scripts")
	}
	for _, tool := range []string{"bash", "git", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("there is no " + tool)
		}
	}
	home := testio.Abs(t, root)
	dir, temp := t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(home, "examples/custom"))); err != nil {
		t.Fatal(err)
	}
	edit := func(name, from, to string) {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(from)) {
			t.Fatalf("%s has no %q (%v)", name, from, err)
		}
		testio.Write(t, path, bytes.Replace(text, []byte(from), []byte(to), 1))
	}
	run := func(want int, env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
			t.Fatalf("%s %s: %v, want exit %d:\n%s", name, args, err, want, out)
		}
		return string(out)
	}
	edit("go.mod", "=> ../..", "=> "+filepath.ToSlash(home))
	run(0, nil, "git", "init", "-q")
	run(0, nil, "git", "add", ".")
	run(0, nil, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")

	action := func(want int, command, args, since, shown, rule string) {
		t.Helper()
		sarif := filepath.Join(temp, "etwgen.sarif")
		out := run(want, []string{"GITHUB_ACTION_PATH=" + home, "RUNNER_TEMP=" + temp, "COMMAND=" + command, "ARGS=" + args,
			"SINCE=" + since, "SARIF=" + sarif}, "bash", filepath.Join(home, ".github/action.sh"))
		if !strings.Contains(out, shown) {
			t.Errorf("%s shows no %q:\n%s", command, shown, out)
		}
		if b, err := os.ReadFile(sarif); rule != "" && (err != nil || !bytes.Contains(b, []byte(`"ruleId": "`+rule+`"`))) {
			t.Errorf("%s: the findings have no %q: %v\n%s", command, rule, err, b)
		}
	}
	hooks := regexp.MustCompile(`(?m)^- id: (\S+)\n(?:  .*\n)*?  entry: (.*)\n`).FindAllStringSubmatch(page(t, filepath.Join(root, ".pre-commit-hooks.yaml")), -1)
	if len(hooks) != 3 {
		t.Fatalf("%d hooks", len(hooks))
	}
	hook := func(i, want int) {
		t.Helper()
		entry := hooks[i][2]
		if !strings.Contains(hooks[i][1], "diff") {
			entry += " events/shop.man"
		}
		run(want, nil, "bash", "-c", entry)
	}
	action(0, "check", "--werror events/shop.man", "", "", "")
	action(0, "diff", "", "", "", "")
	action(0, "compat", "events/shop.man", "HEAD", "", "")
	action(0, "compat", "events/shop.man", "0000", "no version before", "")
	action(2, "chekc", "", "", "choose check, diff or compat", "")
	for i := range hooks {
		hook(i, 0)
	}
	edit("events/shop.man", "win:UInt32", "win:UInt64")
	action(1, "diff", "", "", "::error file=events/", "stale")
	action(1, "compat", "events/shop.man", "HEAD", "error: ", "layout")
	hook(1, 1)
	hook(2, 1)
	edit("events/shop.man", "win:UInt64", "win:UInt65")
	action(1, "check", "events/shop.man", "", "events/shop.man:", "error")
	hook(0, 1)
}
