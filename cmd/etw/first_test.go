package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// writes keeps the output, write by write.
type writes struct{ list []string }

func (w *writes) Write(p []byte) (int, error) {
	w.list = append(w.list, string(p))
	return len(p), nil
}

// TestFirstEvent: the heading, and then the first event are written before the others
// are read.
func TestFirstEvent(t *testing.T) {
	paths := []string{recordedPath("gc.nettrace"), corpus.File(t, filepath.FromSlash("etl/net.4.5.2.x64.etl"))}
	for _, path := range paths {
		for format, heading := range map[string]int{"text": 1, "jsonl": 0, "csv": 1, "md": 2} {
			var out writes
			var stderr bytes.Buffer
			if code := run([]string{"dump", "--limit", "50", "--format", format, path}, strings.NewReader(""), &out, &stderr); code != 0 || stderr.Len() > 0 {
				t.Fatalf("%s: exit code %d: %s", path, code, stderr.String())
			}
			if heading > 0 {
				if n := strings.Count(out.list[0], "\n"); n != heading {
					t.Errorf("%s, %s: the first write has %d lines, want %d", filepath.Base(path), format, n, heading)
				}
				out.list = out.list[1:]
			}
			if n := strings.Count(out.list[0], "\n"); n != 1 || len(out.list) < 2 {
				t.Errorf("%s, %s: the first of %d writes has %d events, want 1", filepath.Base(path), format, len(out.list), n)
			}
		}
	}
}

// TestGlance: columns and names are the same whether the begin of a file was looked at
// before the pass over all of it, or after it, but for the width of columns of text.
func TestGlance(t *testing.T) {
	path := corpus.File(t, filepath.FromSlash("etl/net.4.5.2.x64.etl"))
	data := testio.Read(t, path)
	other := filepath.Join(t.TempDir(), "a.trace") // by its name no file for a glance
	testio.Write(t, other, data)
	for _, args := range [][]string{
		{"--format", "csv"},
		{"--format", "csv", "--event", "Process/*"},
		{"--format", "md", "--provider", "clr"},
		{"--format", "jsonl"},
		{"--where", "ClrInstanceID > 0"},
		{},
	} {
		print := func(path string) string {
			var out, stderr bytes.Buffer
			if code := run(append(append([]string{"dump", "--limit", "300", "--from", "1ms"}, args...), path), strings.NewReader(""), &out, &stderr); code != 0 {
				t.Fatal(stderr.String())
			}
			return regexp.MustCompile(" +").ReplaceAllString(out.String(), " ")
		}
		if want, got := print(other), print(path); want != got {
			t.Errorf("%q: with a glance\n%.2000s\nwant\n%.2000s", args, got, want)
		}
	}
}
