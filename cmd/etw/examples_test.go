package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
)

// exampleManifest is the MyProvider.man of examples.
const exampleManifest = `<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events" xmlns:win="http://manifests.microsoft.com/win/2004/08/windows/events">
  <instrumentation><events>
    <provider name="MyProvider" guid="{11111111-2222-3333-4444-555555555555}" symbol="MY" resourceFileName="a.dll" messageFileName="a.dll">
      <keywords><keyword name="Make" mask="0x1"/></keywords>
      <templates><template tid="Made"><data name="Size" inType="win:UInt32"/></template></templates>
      <events><event value="1" version="0" symbol="Made" level="win:Informational" keywords="Make" template="Made"/></events>
    </provider>
  </events></instrumentation>
</instrumentationManifest>`

// exampleFolder returns a folder with the files that examples name: the recorded traces and
// the manifests to decode them.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, data []byte) {
		testio.Write(t, filepath.Join(dir, name), data)
	}
	for _, name := range []string{"gc.nettrace", "alloc.nettrace", "jit.nettrace", "exceptions.nettrace", "rundown.nettrace", "threads.nettrace", "heapdump.nettrace"} {
		put(name, recorded(t, name))
	}
	for _, name := range []string{"waits-10.nettrace", "locks-10.nettrace", "requests-10.nettrace", "counters-10.nettrace"} {
		put(name, recorded(t, filepath.Join("answers", name)))
	}
	etl, err := acmeTrace()
	if err != nil {
		t.Fatal(err)
	}
	put("trace.etl", etl)
	cpu := bakeryTrace(t)
	play(t, filepath.Join(dir, "app.port"), cpu)
	put("cpu.nettrace", cpu)
	oven := ovenTrace(t)
	put("oven.nettrace", oven)
	put("Shop.pdb", ovenPDB(""))
	put("before.nettrace", cpu)
	put("after.nettrace", cpu)
	if etl, err = machineTrace(); err != nil {
		t.Fatal(err)
	}
	put("machine.etl", etl)
	put("MyProvider.man", []byte(exampleManifest))
	put("app.exe", tlgtest.Sample())
	return dir
}

// livePlace is how examples name a live process. There is one at a socket in the folder.
var livePlace = regexp.MustCompile(`-p 1234\b|--name MyService|--port /tmp/app.port`)

// takesETW reports whether an example is about the sessions or all processes of a Windows.
func takesETW(cmd *cobra.Command, line string) bool {
	return cmd.Name() == "record" || cmd.Name() == "sessions" || strings.Contains(line, "--registered") || strings.HasPrefix(line, "etw watch") && !livePlace.MatchString(line) && !strings.Contains(line, " -- ")
}

// TestExamples runs every example of every help text, as a shell does. Where there is no jq,
// the part before it is run.
func TestExamples(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("examples are for a shell")
	}
	dir := exampleFolder(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"etw", "dotnet"} {
		if err := os.Symlink(exe, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	_, missing := exec.LookPath("jq")
	root, commands := newRoot(), 0
	for _, cmd := range append([]*cobra.Command{root}, root.Commands()...) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		commands++
		if cmd.Example == "" {
			t.Errorf("%s has no examples", cmd.Name())
		}
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimSpace(line)
			line, _, _ = strings.Cut(line, "       ") // what it shows
			if left, _, ok := strings.Cut(line, " | jq"); ok && missing != nil {
				line = left
			}
			if takesETW(cmd, line) {
				t.Run(line, func(t *testing.T) { takesWindows(t, line) })
				continue
			}
			if strings.Contains(line, "--system") {
				t.Run(line, func(t *testing.T) { takesLinux(t, dir, line) })
				continue
			}
			if strings.Contains(line, "--otlp") {
				t.Run(line, func(t *testing.T) { takesReceiver(t, line) })
				continue
			}
			isLive := cmd.GroupID == groupRecord || strings.Contains(line, "-p 1234")
			line = strings.Replace(livePlace.ReplaceAllString(line, "--port app.port"), "--listen :9100", "--listen localhost:0", 1)
			t.Run(line, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				sh := exec.CommandContext(ctx, "sh", "-c", line)
				sh.Dir = dir
				sh.WaitDelay = time.Second // for what a shell that was ended had begun
				sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TRACE=gc.nettrace")
				var stdout, stderr bytes.Buffer
				sh.Stdout, sh.Stderr = &stdout, &stderr
				err := sh.Run()
				if exit := (*exec.ExitError)(nil); strings.Contains(line, "--stop-when") && errors.As(err, &exit) && exit.ExitCode() == cli.ExitUnmet {
					err = nil // what it waits for does not happen in the program of the test
				}
				if err != nil || stderr.Len() > 0 && !isLive {
					t.Errorf("%v, stderr %q", err, stderr.String())
				}
				writes := isLive || strings.Contains(line, ">") && !strings.Contains(line, "'") || strings.Contains(line, "--dir") || strings.Contains(line, " -o ") || strings.HasPrefix(line, "etw mcp --root") // to whom asks
				if strings.Count(stdout.String(), "\n") < 1 && !writes || strings.Contains(stdout.String(), "null\n") {
					t.Errorf("it prints %q", stdout.String())
				}
			})
		}
	}
	if pages, err := filepath.Glob(filepath.Join(dir, "man1", "*")); err != nil || len(pages) != commands-1 { // but for man itself, which help leaves out
		t.Errorf("pages %v, %v", pages, err)
	}
}

// takesLinux runs, for a moment and with this process, an example of a feature that only
// Linux has, and that only for some users: elsewhere its flags make sense.
func takesLinux(t *testing.T, dir, line string) {
	self := strconv.Itoa(os.Getpid())
	words := strings.Fields(line)[1:]
	for i, before := range words[:len(words)-1] {
		switch before {
		case "-p":
			words[i+1] = self
		case "--duration":
			words[i+1] = "50ms"
		case "-o":
			words[i+1] = filepath.Join(dir, words[i+1])
		}
	}
	if !slices.Contains(words, "-o") {
		words = append(words, "-o", filepath.Join(dir, "system.nettrace"))
	}
	var stdout, stderr bytes.Buffer
	code := run(words, strings.NewReader(""), &stdout, &stderr)
	forbidden := strings.Contains(stderr.String(), "perf_event") || strings.Contains(stderr.String(), "on Linux alone")
	if code != 0 && !(code == cli.ExitTrouble && (forbidden || strings.Contains(stderr.String(), "were lost"))) {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}

// takesReceiver runs an example that sends until it is interrupted, of all processes that there
// are, with an address that cannot be: its other flags make sense.
func takesReceiver(t *testing.T, line string) {
	args := strings.Fields(line)[1:]
	for i, word := range args {
		if strings.HasPrefix(word, "http:") {
			args[i] = "ftp://localhost"
		}
	}
	_, stderr, code := output(args...)
	if code != cli.ExitUsage || !strings.Contains(stderr, "--otlp:") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// takesWindows runs an example of a feature that only Windows has: its flags make sense.
func takesWindows(t *testing.T, line string) {
	line, _, _ = strings.Cut(line, " | jq")
	var args []string
	for _, word := range strings.Fields(line)[1:] {
		args = append(args, strings.Trim(word, "'"))
	}
	var stdout, stderr bytes.Buffer
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != cli.ExitTrouble || stdout.Len() > 0 || !strings.Contains(stderr.String(), "take Windows") && !strings.Contains(stderr.String(), "no ETW") {
		t.Errorf("exit code %d, %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// TestSumsOfQuantities sums up, in JSON, every field of the runtime's events that
// is a quantity: none is a text.
func TestSumsOfQuantities(t *testing.T) {
	quantities := []string{
		"GenerationSize0", "GenerationSize1", "GenerationSize2", "GenerationSize3", "GenerationSize4", "TotalPromotedSize0", "TotalPromotedSize1",
		"TotalPromotedSize2", "TotalPromotedSize3", "AllocationAmount", "AllocationAmount64", "ObjectSize", "MethodSize", "MethodILSize",
		"FinalizationPromotedSize", "FinalizationPromotedCount", "Size", "Count", "RangeUsedLength", "RangeReservedLength", "SamplingByteOffset",
	}
	sums := make(map[string]float64)
	for _, name := range []string{"gc.nettrace", "alloc.nettrace", "jit.nettrace", "heapdump.nettrace"} {
		path := filepath.Join("..", "..", "tests", "recorded", name)
		var stdout bytes.Buffer
		if code := run([]string{"dump", "--format", "json", "-p", "clr", path}, strings.NewReader(""), &stdout, io.Discard); code != 0 {
			t.Fatalf("%s: exit code %d", name, code)
		}
		for _, event := range decodeEvents(t, stdout.Bytes()) {
			for _, q := range quantities {
				switch v := event[q].(type) {
				case nil:
				case float64:
					sums[q] += v
				default:
					t.Errorf("%s: %s is %v", name, q, v)
				}
			}
		}
	}
	for _, q := range []string{"GenerationSize0", "AllocationAmount64", "MethodSize", "Count"} {
		if sums[q] <= 0 {
			t.Errorf("the sum of %s is %v", q, sums[q])
		}
	}
}
