package eventpipe

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// The map of a runtime is beside its socket. One that was there before stays.
func TestPerfMaps(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runtimes write no maps there")
	}
	dir := t.TempDir()
	for socket, want := range map[string]string{
		filepath.Join(dir, "dotnet-diagnostic-12-345-socket"): filepath.Join(dir, "perf-12.map"), "": "", "dotnet-diagnostic-x-1-socket": "",
	} {
		if got := perfMapPath(socket); got != want {
			t.Errorf("%s: %q", socket, got)
		}
	}
	m := PerfMaps{asked: map[int]perfMap{
		12: {path: filepath.Join(dir, "perf-12.map"), theirs: true},
		13: {},
		14: {path: dir, theirs: true},
	}}
	testio.Write(t, m.asked[12].path, "10 20 one\n0x30 0x10 two words\nno line\n30000 0 \n")
	var got []string
	err := m.Read(t.Context(), func(pid int, start, size uint64, name string) { got = append(got, name) })
	if err == nil || !strings.Contains(err.Error(), "no regular file") || !slices.Equal(got, []string{"one", "two words"}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(m.asked[12].path); err != nil {
		t.Error(err)
	}
	// It may be in another folder than the socket, and is where it is found.
	other := t.TempDir()
	for _, test := range []struct {
		of     string
		folder string
	}{{"perf-12.map", dir}, {"perf-15.map", other}, {"perf-16.map", dir}} {
		if test.folder == other {
			testio.Write(t, filepath.Join(other, test.of), "")
		}
		if got := (perfMap{path: filepath.Join(dir, test.of)}).in([]string{dir, other}).path; got != filepath.Join(test.folder, test.of) {
			t.Errorf("%s is %s", test.of, got)
		}
	}
}

// A runtime that knows no such command may have a map.
func TestRefusedPerfMap(t *testing.T) {
	old := perfMap{path: "perf-12.map", theirs: true}
	if m, err := old.refused(12, os.ErrInvalid); m != old || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	old.theirs = false
	if m, err := old.refused(12, os.ErrInvalid); m.path != "" || err == nil || !strings.Contains(err.Error(), "COMPlus_PerfMapEnabled=1") {
		t.Errorf("%+v, %v", m, err)
	}
}
