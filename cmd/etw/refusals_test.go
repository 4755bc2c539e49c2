package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// refused runs a command line that gets nothing done, and returns the one line that it says.
func refused(t *testing.T, want int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(args, strings.NewReader(""), &stdout, &stderr)
	said := stderr.String()
	if code != want || stdout.Len() != 0 || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "etw") {
		t.Errorf("etw %s: exit code %d, want %d; %d bytes of output; %q", strings.Join(args, " "), code, want, stdout.Len(), said)
	}
	return said
}

// TestRefusalsOfP: -p is a process to some commands, and a provider to the others.
func TestRefusalsOfP(t *testing.T) {
	if said := refused(t, cli.ExitUsage, "stat", "-p", "17892"); !strings.Contains(said, "FILE... (-p is a provider); see") {
		t.Error(said)
	}
	if said := refused(t, cli.ExitTrouble, "gc", "17892"); !strings.HasSuffix(said, " (a process: -p 17892)\n") {
		t.Error(said)
	}
}

// TestRefusals: each command says in one line, and with the right exit code, that a flag is
// wrong, an argument missing, or a file none that it can read.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	testio.Write(t, empty, "")
	for _, c := range subcommands() {
		if said := refused(t, cli.ExitUsage, c.name, "--frobnicate"); said != "etw "+c.name+": unknown flag: --frobnicate; see etw "+c.name+" --help\n" {
			t.Errorf("%s", said)
		}
		switch c.group {
		case groupLook, groupAsk, groupCode, groupBox:
		default:
			continue // of no trace
		}
		args := []string{c.name}
		switch c.name {
		case "filter":
			args = append(args, "-o", filepath.Join(dir, "part"))
		case "export":
			args = append(args, "-f", "parquet", "-o", filepath.Join(dir, "lake"))
		}
		if said := refused(t, cli.ExitUsage, args...); !strings.Contains(said, "missing: etw "+c.name+" [flags] ") {
			t.Errorf("%s", said)
		}
		for path, says := range map[string]string{
			empty: ": the file is empty", dir: ": is a folder", filepath.Join(dir, "none"): ": ",
		} {
			files := append(args[:len(args):len(args)], path)
			if c.name == "compare" {
				files = append(files, path+"2")
			}
			if said := refused(t, cli.ExitTrouble, files...); !strings.HasPrefix(said, "etw: "+path+says) {
				t.Errorf("%s", said)
			}
		}
	}
}

// A recording that ends within a snapshot of the heap has events of it, and need not be told to record
// them.
func TestRefusedBrokenHeap(t *testing.T) {
	whole, err := os.ReadFile(corpus.Glob(t, "dotnet10", "heap-1.nettrace")[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.nettrace")
	if err := os.WriteFile(path, whole[:len(whole)*2/5], 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := output("heap", path)
	if code == 0 || !strings.Contains(stderr, "no whole one: the recording ended before") || strings.Contains(stderr, "to record them") {
		t.Errorf("%d: %s", code, stderr)
	}
}
