package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/script")

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)            // thousands of commands, each of which leaves nothing behind
	if os.Getenv("ETWGEN_ETW") != "" { // without programs for scripts, which wine does not delete
		os.Exit(m.Run())
	}
	testscript.Main(m, map[string]func(){"etw": main, "dotnet": runtimeProcess, "busy": busyProcess})
}

// TestScripts runs the scripts of testdata/script. Beside the commands of package
// testscript they have
//
//	run CODE ARG...     run etw and expect an exit code
//	trace NAME FILE     write a trace of traces_test.go
//	truncate FILE N     cut off the last N bytes
//	gzip FILE DST       pack a file
//	zip DST FILE...     pack files
//	runtime SOCKET FILE VERSION   play a .nettrace as a live process of .NET
//	points FILE         write a .nettrace that can be split
//	library MANIFEST FILE         write a library with the manifest in its resources
//
// and $RECORDED is the folder of recorded traces.
func TestScripts(t *testing.T) {
	recorded := testio.Abs(t, filepath.Join("..", "..", "tests", "recorded"))
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RECORDED", recorded)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each process otherwise
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run":      scriptRun,
			"trace":    scriptTrace,
			"truncate": scriptTruncate,
			"gzip":     scriptGzip,
			"zip":      scriptZip,
			"runtime":  scriptRuntime,
			"points":   scriptPoints,
			"library":  scriptLibrary,
		},
	})
}

func scriptRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: run CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("etw", args[1:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptTrace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || traces[args[0]] == nil {
		ts.Fatalf("usage: trace NAME FILE")
	}
	data, err := traces[args[0]]()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

func scriptTruncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	data := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(data[:len(data)-n]), 0o666))
}

func scriptGzip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: gzip FILE DST")
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

func scriptZip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: zip DST FILE...")
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range args[1:] {
		f, err := w.Create(name)
		ts.Check(err)
		_, err = f.Write([]byte(ts.ReadFile(name)))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}
