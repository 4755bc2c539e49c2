package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// pprofTool returns the program that go tool pprof runs.
func pprofTool(t *testing.T) string {
	t.Helper()
	if testing.Short() || !corpus.All() {
		t.Skip("go may have to build it: ETWGEN_TESTS=all does it")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go tool pprof")
	}
	out, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Skipf("there is no go tool pprof: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// go tool pprof takes the files of every kind of samples, as a table and as a page.
func TestGoToolPprof(t *testing.T) {
	tool := pprofTool(t)
	b := bakeryTrace(t)
	dir := t.TempDir()
	path, file := filepath.Join(dir, "bakery.nettrace"), filepath.Join(dir, "out.pb.gz")
	testio.Write(t, path, b)
	for _, kind := range [][2]string{{"allocs", "Bakery.Oven.Bake"}, {"exceptions", "Bakery.Oven.Bake"}, {"contention", "Sleep"}, {"cpu", "Bakery.Oven.Bake"}} {
		of, want := kind[0], kind[1]
		if _, stderr, code := output("export", "--of", of, "-o", file, path); code != 0 || stderr != "" {
			t.Fatalf("%s: %d, %s", of, code, stderr)
		}
		text, err := exec.Command(tool, "-top", file).CombinedOutput()
		if err != nil || !strings.Contains(string(text), want) || !strings.HasPrefix(string(text), "File: Shop.dll") {
			t.Errorf("%s: %v: %s", of, err, text)
		}
	}
	// The last file is that of the time of threads.
	page := servedPage(t, tool, file, "/ui/flamegraph")
	for _, want := range []string{"Bakery.Oven.Bake", "Bakery.Shop.SellAsync"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s: %.300s", want, page)
		}
	}
}

// servedPage has pprof serve a file, and returns one of its pages. pprof chooses a port
// that is free, and says which; should another program take it at that moment, it ends,
// and is started again.
func servedPage(t *testing.T, tool, file, page string) string {
	t.Helper()
	for range 5 {
		cmd := exec.Command(tool, "-no_browser", "-http=127.0.0.1:", file)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said []string
		url := ""
		lines := bufio.NewScanner(stderr)
		for url == "" && lines.Scan() {
			said = append(said, lines.Text())
			if _, after, ok := strings.Cut(lines.Text(), "http://"); ok {
				url = "http://" + strings.TrimSpace(after)
			}
		}
		ended := make(chan struct{})
		go func() { // which ends with the process
			io.Copy(io.Discard, stderr)
			close(ended)
		}()
		text, err := "", errors.New("it names no address")
		if url != "" {
			text, err = getServed(url+page, ended)
		}
		cmd.Process.Kill()
		<-ended
		cmd.Wait()
		if err == nil {
			return text
		}
		t.Logf("%v: %q", err, said)
	}
	t.Fatal("pprof serves no page")
	return ""
}

// getServed gets a page of a program that is about to serve it, or has ended.
func getServed(url string, ended <-chan struct{}) (string, error) {
	for {
		res, err := http.Get(url)
		if err == nil {
			b, err := io.ReadAll(res.Body)
			res.Body.Close()
			return string(b), err
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return "", err
		}
		select {
		case <-ended:
			return "", err
		case <-time.After(10 * time.Millisecond):
		}
	}
}
