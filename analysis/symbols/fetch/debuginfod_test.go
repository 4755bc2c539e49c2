package fetch

import (
	"debug/elf"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/internal/testio"
)

const ovenSource = `#include <stdio.h>
static int knead(int n) { return n * 3; }
static int __attribute__((noinline)) bake(int n) { return knead(n) + 1; }
int __attribute__((noinline)) sell(int n) { return bake(n) - bake(n / 2); }
int main(int argc, char **argv) { printf("%d\n", sell(argc)); return 0; }
`

// TestRealDebuginfod has a stripped program named by the server that distributions run: all
// names are those of the program before it was stripped.
func TestRealDebuginfod(t *testing.T) {
	for _, tool := range []string{"debuginfod", "gcc", "objcopy", "strip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	whole, bare := filepath.Join(dir, "whole"), filepath.Join(dir, "bare", "oven")
	source := put(t, []byte(ovenSource), dir, "oven.c")
	debug := filepath.Join(dir, "served", "oven.debug")
	for _, folder := range []string{bare, debug} {
		if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"gcc", "-g", "-O1", "-Wl,--build-id", "-o", whole, source}, {"objcopy", "--only-keep-debug", whole, debug}, {"strip", "-o", bare, whole}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	server := startDebuginfod(t, filepath.Dir(debug))

	file := testio.File(t, whole)
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	id, err := native.BuildID(file, info.Size())
	if err != nil || id == "" {
		t.Fatalf("%q, %v", id, err)
	}
	awaitBuild(t, server, id)
	p, err := ParsePath("debuginfod*"+server, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := New(p, Limits{}, nil)
	x, err := elf.NewFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := x.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	name := func(folder string, at uint64, options ...native.Option) (string, native.Source) {
		d := testio.Open(t, native.Open, folder, options...)
		n := symbols.Native{Module: "/shop/oven", BuildID: id, VirtualAddress: at}
		from := d.Name(&n)
		return fmt.Sprintf("%s+%d", n.Function, n.Offset), from
	}
	find := native.Elsewhere(func(n *symbols.Native) []string { return f.Files(t.Context(), n) })
	wholeDir := filepath.Join(dir, "a")
	if err := os.MkdirAll(wholeDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(whole, filepath.Join(wholeDir, "oven")); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, s := range list {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 {
			continue
		}
		want, from := name(wholeDir, s.Value+1)
		if from != native.FromELF {
			t.Errorf("%s is not named at all", s.Name)
		}
		if got, _ := name(filepath.Dir(bare), s.Value+1, find); got != want {
			t.Errorf("%s: %s, not %s", s.Name, got, want)
		}
		compared++
	}
	if compared < 3 {
		t.Errorf("%d functions", compared)
	}
}

// startDebuginfod starts a server of the files in a folder.
func startDebuginfod(t *testing.T, folder string) string {
	l := testio.Listen(t, "tcp", "127.0.0.1:0")
	port := l.Addr().(*net.TCPAddr).Port
	testio.Close(t, l)
	cmd := exec.CommandContext(t.Context(), "debuginfod", "-F", folder, "-p", fmt.Sprint(port), "-d", ":memory:")
	cmd.Env = append(os.Environ(), "DEBUGINFOD_URLS=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// awaitBuild waits until the server has read its files.
func awaitBuild(t *testing.T, server, id string) {
	for range 600 {
		answer, err := http.Get(server + "/buildid/" + id + "/debuginfo")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Skip("debuginfod did not read its folder within a minute")
}
