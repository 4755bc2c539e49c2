package tracefilereceiver

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/tracefilereceiver/internal/metadata"
	"github.com/etwgen/etwgen/internal/testio"
)

// A flaky is a medium that fails once at a place, or ends there.
type flaky struct {
	io.ReaderAt
	at    int64
	err   error
	fails *atomic.Int32
}

func (f flaky) ReadAt(p []byte, at int64) (int, error) {
	if at <= f.at && f.at < at+int64(len(p)) && f.fails.CompareAndSwap(0, 1) {
		n, _ := f.ReaderAt.ReadAt(p[:f.at-at], at)
		return n, f.err
	}
	return f.ReaderAt.ReadAt(p, at)
}

// on starts a receiver over a medium, waits until something holds, and ends it.
func on(t *testing.T, dir string, keep *memory, s *sink, medium func(io.ReaderAt) io.ReaderAt, what string, done func() bool) {
	t.Helper()
	c, err := factoryOver(medium).CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), config(dir), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), hostOf(keep)); err != nil {
		t.Fatal(err)
	}
	defer func(c component.Component) {
		if err := c.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}(c)
	wait(t, what, done)
}

// TestMediumFails has a medium fail once, or end too early, at some places, when the file is
// opened for the first time, the second and the third: all is sent once, without the file
// changing, and nothing more after a restart.
func TestMediumFails(t *testing.T) {
	whole := testio.Read(t, filepath.Join(recorded, "jit.nettrace"))
	etl := session(t)
	for _, c := range []struct {
		name string
		data []byte
		of   []byte // unpacked
	}{{"a.nettrace", whole, whole}, {"a.nettrace.gz", packed(t, whole), whole}, {"a.etl", etl, etl}} {
		plain := filepath.Join(t.TempDir(), "plain")
		write(t, plain, c.of)
		want := events(t, plain)
		failed := make(map[int32]int)
		for i := range 18 {
			open, fault, place := int32(i%3+1), []error{&fs.PathError{Op: "read", Path: "a trace", Err: syscall.EIO}, io.EOF}[i/3%2], i/6+1
			dir, keep, s := t.TempDir(), &memory{}, &sink{}
			write(t, filepath.Join(dir, c.name), c.data)
			var opens, fails atomic.Int32
			medium := func(src io.ReaderAt) io.ReaderAt {
				if opens.Add(1) != open {
					return src
				}
				return flaky{src, int64(len(c.data) * place / 4), fault, &fails}
			}
			on(t, dir, keep, s, medium, "all is read", func() bool { return s.total() >= want })
			all(t, config(dir), keep, s)
			if s.count != want {
				t.Errorf("%s, %v at %d quarters: %d log records, want %d", c.name, fault, place, s.count, want)
			}
			failed[open] += int(fails.Load())
		}
		if failed[2] == 0 {
			t.Errorf("%s: the medium has never failed", c.name)
		}
	}
}

// TestFilledLater has a file that has room for all of a trace, and its second half later.
func TestFilledLater(t *testing.T) {
	for _, name := range []string{"jit.nettrace", "threads.nettrace"} {
		whole := testio.Read(t, filepath.Join(recorded, name))
		dir, keep, s := t.TempDir(), &memory{}, &sink{}
		path := filepath.Join(dir, name)
		half := make([]byte, len(whole))
		copy(half, whole[:len(whole)/2])
		write(t, path, half)
		all(t, config(dir), keep, s)
		testio.Write(t, path, whole)
		old := time.Now().Add(-time.Minute)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		all(t, config(dir), keep, s)
		if want := events(t, path); s.count != want {
			t.Errorf("%s: %d log records, want %d", name, s.count, want)
		}
	}
}

// TestCutWhileRead has a file be cut off while it is read, and be whole again later, as
// large as it was.
func TestCutWhileRead(t *testing.T) {
	from := filepath.Join(recorded, "jit.nettrace")
	whole := testio.Read(t, from)
	dir, keep, s := t.TempDir(), &memory{}, &sink{}
	path := filepath.Join(dir, "a.nettrace")
	write(t, path, whole)
	cut := errors.New("it is not cut")
	s.answer = func(n int) error {
		if n == 1 {
			cut = os.Truncate(path, int64(len(whole)/2))
		}
		return nil
	}
	_, end := start(t, config(dir), keep, s)
	wait(t, "the first part is read", func() bool { return s.total() > 0 })
	end()
	if cut != nil {
		t.Skip(cut)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	all(t, config(dir), keep, s) // the half
	write(t, path, whole)
	all(t, config(dir), keep, s)
	if want := events(t, from); s.count != want {
		t.Errorf("%d log records, want %d", s.count, want)
	}
}

// TestNotAllowed has a file that may not be read at first.
func TestNotAllowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not keep anybody from reading")
	}
	dir, keep, s := t.TempDir(), &memory{}, &sink{}
	from := filepath.Join(recorded, "gc.nettrace")
	want := events(t, from)
	var tries atomic.Int32
	medium := func(src io.ReaderAt) io.ReaderAt {
		return refused{src, func() bool { return tries.Add(1) < 4 }}
	}
	copyOf(t, from, filepath.Join(dir, "a.nettrace"))
	on(t, dir, keep, s, medium, "all is read", func() bool { return s.total() >= want })
	if tries.Load() < 4 || s.count != want {
		t.Errorf("%d log records after %d tries, want %d", s.count, tries.Load(), want)
	}
	path := filepath.Join(dir, "b.nettrace")
	more := filepath.Join(recorded, "exceptions.nettrace")
	want += events(t, more)
	copyOf(t, more, path)
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	_, end := start(t, config(dir), keep, s)
	defer end()
	time.Sleep(50 * time.Millisecond)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	wait(t, "all is read", func() bool { return s.total() >= want })
}

// A refused is a file that is not to be read as long as something holds.
type refused struct {
	io.ReaderAt
	holds func() bool
}

func (f refused) ReadAt(p []byte, at int64) (int, error) {
	if f.holds() {
		return 0, &fs.PathError{Op: "read", Path: "a trace", Err: syscall.EMFILE}
	}
	return f.ReaderAt.ReadAt(p, at)
}

// TestPause has pauses grow, and end when the file changes.
func TestPause(t *testing.T) {
	f := found{path: "a", size: 1}
	var p pause
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if p = p.longer(f, time.Second); p.wait != want {
			t.Errorf("a pause of %v, want %v", p.wait, want)
		}
	}
	for range 10 {
		p = p.longer(f, time.Second)
	}
	if p.wait != maxPause || !p.holds(f) || p.holds(found{path: "a", size: 2}) {
		t.Errorf("%+v", p)
	}
}
