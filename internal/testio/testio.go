// Package testio reads and writes files for tests, which end where it cannot.
package testio

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
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
func JSON[T string | []byte](t testing.TB, data T, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(data), v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}
