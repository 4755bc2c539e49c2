// Package testio reads and writes files for tests, which end where it cannot.
package testio

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
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

// Write writes a file.
func Write[T string | []byte](t testing.TB, path string, data T) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// JSON decodes a document.
func JSON[T ~string | ~[]byte](t testing.TB, data T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}

// Open opens a file, as a trace.
func Open[F, O any](t testing.TB, open func(string, ...O) (F, error), path string, opts ...O) F {
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
