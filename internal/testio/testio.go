// Package testio reads and writes files and events for tests, which end where it cannot.
package testio

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"iter"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Read returns the contents of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Unpacked returns the contents of a file, those that are packed in it if its name ends in .gz.
func Unpacked(t testing.TB, path string) []byte {
	t.Helper()
	data := Read(t, path)
	if !strings.HasSuffix(path, ".gz") {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(z)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return data
}

// Write writes a file, in a folder that it makes if there is none.
func Write[T string | []byte](t testing.TB, path string, data T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Create begins a file.
func Create(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// JSON decodes a document.
func JSON[T ~string | ~[]byte](t testing.TB, data T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}

// Marshal encodes a value as JSON.
func Marshal(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Open opens a file, or a list of them, as a trace.
func Open[P, F, O any](t testing.TB, open func(P, ...O) (F, error), path P, opts ...O) F {
	t.Helper()
	f, err := open(path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Abs returns a path that holds in every folder.
func Abs(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// Reader begins to read data.
func Reader[R, O any](t testing.TB, begin func(io.Reader, ...O) (R, error), data []byte, opts ...O) R {
	t.Helper()
	r, err := begin(bytes.NewReader(data), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ReaderAt begins to read data, in any order.
func ReaderAt[R, O any](t testing.TB, begin func(io.ReaderAt, int64, ...O) (R, error), data []byte, opts ...O) R {
	t.Helper()
	r, err := begin(bytes.NewReader(data), int64(len(data)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// File opens a file as it is.
func File(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Glob returns the files of a pattern, of which there must be some.
func Glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", pattern, err)
	}
	return files
}

// Writer begins to write a file with a header.
func Writer[W, H any](t testing.TB, begin func(io.Writer, H) (W, error), to io.Writer, header H) W {
	t.Helper()
	w, err := begin(to, header)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Add writes a record.
func Add[R any](t testing.TB, w interface{ Write(R) error }, r R) {
	t.Helper()
	if err := w.Write(r); err != nil {
		t.Fatal(err)
	}
}

// Close closes a file, which may be written until then.
func Close(t testing.TB, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Records iterates over the records of a source, all of which must be sound.
func Records[R any](t testing.TB, records iter.Seq2[R, error]) iter.Seq[R] {
	return func(yield func(R) bool) {
		t.Helper()
		for r, err := range records {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Encoded returns a file with a header and records.
func Encoded[H, R any](t testing.TB, encode func(H, ...R) ([]byte, error), header H, records ...R) []byte {
	t.Helper()
	data, err := encode(header, records...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Payload returns the payload of an event, with pointers of a size.
func Payload[P any](t testing.TB, e interface {
	AppendPayload([]byte, P) ([]byte, error)
}, size P) []byte {
	t.Helper()
	data, err := e.AppendPayload(nil, size)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Parse parses a text, with warnings or without.
func Parse[D string | []byte, M, W, O any](t testing.TB, parse func(string, []byte, O) (M, W, error), name string, text D, opts O) M {
	t.Helper()
	m, _, err := parse(name, []byte(text), opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ParseFile parses a file, with warnings or without.
func ParseFile[M, W, O any](t testing.TB, parse func(string, O) (M, W, error), path string, opts O) M {
	t.Helper()
	m, _, err := parse(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Listen listens for connections.
func Listen(t testing.TB, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Numbers lays out numbers: those of int are pointers of a size.
func Numbers[P ~uint8](pointer P, values ...any) (p []byte) {
	le := binary.LittleEndian
	for _, v := range values {
		switch v := v.(type) {
		case uint32:
			p = le.AppendUint32(p, v)
		case uint64:
			p = le.AppendUint64(p, v)
		case int64:
			p = le.AppendUint64(p, uint64(v))
		case int:
			p = append(p, le.AppendUint64(nil, uint64(v))[:pointer]...)
		}
	}
	return p
}

// Start starts a program, and returns its output as it comes.
func Start(t testing.TB, cmd *exec.Cmd) io.ReadCloser {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return out
}

// Ready starts a program, which the end of the test kills, and waits until it says that it is ready.
func Ready(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	out := Start(t, cmd)
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal(line, err)
	}
}
