package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// writes keeps what is written, write by write.
type writes struct{ list []string }

func (w *writes) Write(p []byte) (int, error) {
	w.list = append(w.list, string(p))
	return len(p), nil
}

// TestFirstEvent: the first event is written before the others are read.
func TestFirstEvent(t *testing.T) {
	paths := []string{recordedPath("gc.nettrace"), corpus.File(t, filepath.FromSlash("etl/net.4.5.2.x64.etl"))}
	for _, path := range paths {
		for format, lines := range map[string]int{"text": 2, "jsonl": 1, "csv": 2} {
			var out writes
			var stderr bytes.Buffer
			if code := run([]string{"dump", "--limit", "50", "--format", format, path}, strings.NewReader(""), &out, &stderr); code != 0 || stderr.Len() > 0 {
				t.Fatalf("%s: exit code %d: %s", path, code, stderr.String())
			}
			if n := strings.Count(out.list[0], "\n"); n != lines || len(out.list) < 2 {
				t.Errorf("%s, %s: the first of %d writes has %d lines, want %d", filepath.Base(path), format, len(out.list), n, lines)
			}
		}
	}
}

// TestGlance: columns are the same whether the events that show them were read with
// all that the trace says, or without.
func TestGlance(t *testing.T) {
	path := corpus.File(t, filepath.FromSlash("etl/net.4.5.2.x64.etl"))
	head := func(args ...string) string {
		var out, stderr bytes.Buffer
		if code := run(append(append([]string{"dump", "--limit", "1"}, args...), path), strings.NewReader(""), &out, &stderr); code != 0 {
			t.Fatal(stderr.String())
		}
		line, _, _ := strings.Cut(out.String(), "\n")
		return line
	}
	if quick, whole := head(), head("--from", "0"); quick != whole {
		t.Errorf("columns are\n%s\nwant\n%s", quick, whole)
	}
}
