package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestRun: the committed files are those that the tables make.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := run(corpus.Facts(t), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kernel.man", "system.go"} {
		got := testio.Read(t, filepath.Join(dir, name))
		want := testio.Read(t, filepath.Join("..", "..", "generated", "kernel", name))
		if string(got) != string(want) {
			t.Errorf("%s is stale: go run ./internal/kernelman -o generated/kernel", name)
		}
	}
}

// TestFaults: tables that contradict themselves are errors, and so are texts on absent
// things.
func TestFaults(t *testing.T) {
	good := map[string]string{
		"kernel-providers.tsv":        "task\tguid\tperfview_task\tflag\topcodes\nJob\t01020304-0506-0708-090a-0b0c0d0e0f10\t\t\t\n",
		"kernel-events.tsv":           "task\topcode\thook\tname\tperfview\tversions\tlayouts\tflags\tstackwalk_name\tevidence\nJob\t1\t0x0701\tAdd\t\t0\t0:L\t\t-\ttext\n",
		"kernel-fields.tsv":           "layout\ttask\tname\ttype\nL\tJob\tId\tu32\n",
		"kernel-maps.tsv":             "map\tkind\tvalue\tname\n",
		"kernel-flags.tsv":            "name\tvalue\n",
		"kernel-system-providers.tsv": "provider\tguid\tkeyword\tvalue\n",
	}
	for _, tt := range []struct{ file, text, want string }{
		{"kernel-events.tsv", strings.ReplaceAll(good["kernel-events.tsv"], "Job\t", "Work\t"), "task Work has no class"},
		{"kernel-events.tsv", strings.ReplaceAll(good["kernel-events.tsv"], "Job\t1", "Job\tone"), `"one"`},
		{"kernel-events.tsv", strings.ReplaceAll(good["kernel-events.tsv"], "0:L", "x:L"), `"x"`},
		{"kernel-events.tsv", strings.ReplaceAll(strings.ReplaceAll(good["kernel-events.tsv"], "\t-\t", "\tJobAdd\t"), "0x0701", "hook"), `"hook"`},
		{"kernel-fields.tsv", good["kernel-fields.tsv"] + "L\tJob\tS.A\tu32\n", "L.S.A does not follow S"},
		{"kernel-maps.tsv", good["kernel-maps.tsv"] + "M\tvalue\tx\tA\n", `"x"`},
		{"kernel-flags.tsv", good["kernel-flags.tsv"] + "PERF_X\tx\n", `"x"`},
		{"kernel-system-providers.tsv", good["kernel-system-providers.tsv"] + "P\t\tK\tx\n", `"x"`},
		{"", "", "nothing is named"}, // the texts are of events that are not there
	} {
		dir := t.TempDir()
		for name, text := range good {
			if name == tt.file {
				text = tt.text
			}
			testio.Write(t, filepath.Join(dir, name), text)
		}
		if err := run(dir, dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.file, err, tt.want)
		}
		for name := range good {
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, "gone")); err != nil {
				t.Fatal(err)
			}
			if err := run(dir, dir); err == nil {
				t.Errorf("no error without %s", name)
			}
			if err := os.Rename(filepath.Join(dir, "gone"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for text, want := range map[string]string{"a name without a text": "docs.txt:1: no colon", "A: b\nA: c": "docs.txt:2: A is there twice"} {
		if _, err := readDocs(text); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
