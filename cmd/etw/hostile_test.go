package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// The flags by which tests/hostile runs TestHostile for long.
var (
	hostileN    = flag.Int("hostile.n", 300, "runs of TestHostile")
	hostileSeed = flag.Uint64("hostile.seed", 1, "seed of TestHostile")
	hostileFrom = flag.Uint64("hostile.from", 0, "first run of TestHostile")
	hostileTime = flag.Duration("hostile.time", 0, "in place of a number of runs, how long TestHostile takes")
	hostileDir  = flag.String("hostile.corpus", "", "folder with more traces for TestHostile")
)

// hostileCommands are run on each mutant.
var hostileCommands = [][]string{
	{"dump", "--stacks", "--payload", "--format", "text"},
	{"dump", "--stacks", "--payload", "--format", "json"},
	{"dump", "--stacks", "--payload", "--format", "jsonl"},
	{"dump", "--stacks", "--payload", "--format", "csv"},
	{"dump", "--format", "md"},
	{"info", "--format", "text"},
	{"info", "--format", "json"},
	{"stat", "--format", "text"},
	{"stat", "--format", "json"},
	{"stat", "--format", "csv"},
	{"report"},
	{"export", "--format", "folded"},
	{"export", "--format", "speedscope"},
}

// hostileAnswers are commands that answer questions, in each of these formats.
var hostileAnswers = []string{
	"allocs", "waits --locks", "counters", "exceptions", "gc", "heap", "jit", "requests", "threadpool", "waits", "top",
	"files --disks", "files", "processes --images", "network", "processes",
}

func init() {
	for _, name := range hostileAnswers {
		for _, format := range []string{"text", "json", "csv", "md"} {
			hostileCommands = append(hostileCommands, append(strings.Fields(name), "--format", format))
		}
	}
}

// TestHostile runs the tool on damaged traces: it ends with 0, or with 1 and a word on the
// fault; lines of JSON are valid; and nothing that a terminal takes as a command reaches it.
func TestHostile(t *testing.T) {
	files, err := mutate.Made()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"../../tests/recorded", *hostileDir} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		more, err := mutate.Folder(dir, 32<<10)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	i, until := *hostileFrom, time.Now().Add(*hostileTime)
	for ; *hostileTime > 0 && time.Now().Before(until) || *hostileTime == 0 && i < *hostileFrom+uint64(*hostileN); i++ {
		r := rand.New(rand.NewPCG(*hostileSeed, i))
		f := files[r.IntN(len(files))]
		m := mutate.Mutations[r.IntN(len(mutate.Mutations))]
		args := hostileCommands[r.IntN(len(hostileCommands))]
		mutant := m.Apply(r, f, nil)
		if r.IntN(4) == 0 { // so that names and payloads have commands for terminals
			mutant.Data = bytes.ReplaceAll(mutant.Data, []byte("M\x00i\x00c\x00"), []byte("\x1b\x00\x2e\x20\x9b\x00"))
			mutant.Data = bytes.ReplaceAll(mutant.Data, []byte("Mic"), []byte("\x1b\xc2\x9b"))
		}
		if err := hostileRun(args, mutant.Data); err != nil {
			t.Errorf("run %d, seed %d: %s of %s, etw %v: %v", i, *hostileSeed, m.Name, f.Name, args, err)
		}
	}
	t.Logf("%d executions", i-*hostileFrom)
}

// hostileRun runs the tool and returns its faults.
func hostileRun(args []string, data []byte) (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = fmt.Errorf("panic: %v", e)
		}
	}()
	var stdout, stderr bytes.Buffer
	code := run(append(args[:len(args):len(args)], "-"), bytes.NewReader(data), &stdout, &stderr)
	if code != 0 && (code != cli.ExitTrouble && code != cli.ExitNone || stderr.Len() == 0) {
		return fmt.Errorf("exit code %d, stderr %q", code, stderr.Bytes())
	}
	for _, out := range [][]byte{stdout.Bytes(), stderr.Bytes()} {
		if err := harmless(out); err != nil {
			return err
		}
	}
	format := args[len(args)-1]
	if format == "jsonl" {
		for line := range bytes.Lines(stdout.Bytes()) {
			if !json.Valid(line) {
				return fmt.Errorf("a line is not valid JSON: %q", line)
			}
		}
	}
	if format == "json" && stdout.Len() > 0 && !json.Valid(stdout.Bytes()) {
		return fmt.Errorf("not valid JSON: %q", stdout.Bytes())
	}
	if !utf8.Valid(stdout.Bytes()) {
		return errors.New("the output is not UTF-8")
	}
	return nil
}

// harmless returns an error if b has a character that a terminal would not just show: one
// that controls it, or that hides or turns around the text after it.
func harmless(b []byte) error {
	for i, c := range string(b) {
		switch {
		case c == '\n', c == '\r' && i+1 < len(b) && b[i+1] == '\n', c == '\t':
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return fmt.Errorf("%U is in the output: %q", c, b[max(0, i-40):min(len(b), i+40)])
		}
	}
	return nil
}
