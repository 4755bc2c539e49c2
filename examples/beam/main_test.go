package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/trace"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

const recorded = "../../tests/recorded/"

// TestPipeline runs the pipeline over recorded traces, on the embedded runner.
func TestPipeline(t *testing.T) {
	dir := t.TempDir()
	names := []string{"gc.nettrace", "alloc.nettrace", "exceptions.nettrace"}
	for _, name := range names {
		b, err := os.ReadFile(recorded + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "no.nettrace"), []byte("this is no trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	lake, counts := filepath.Join(dir, "lake"), filepath.Join(dir, "counts.txt")
	p, s := beam.NewPipelineWithRoot()
	build(s, filepath.Join(dir, "*.nettrace"), lake, "web1", counts)
	if err := ptest.Run(p); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(string(got)) {
		event, n, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rows := 0
		if _, err := fmt.Sscan(n, &rows); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if event != "(no trace)" {
			sum += rows
		}
	}
	want := events(t, dir, names)
	if sum != want || !strings.Contains(string(got), "(no trace)\t1\n") {
		t.Errorf("%d events, not %d:\n%s", sum, want, got)
	}
	if n := manifests(t, lake); n != want {
		t.Errorf("the manifests have %d events, not %d", n, want)
	}
}

// events counts the events of traces.
func events(t *testing.T, dir string, names []string) int {
	n := 0
	for _, name := range names {
		tr, err := trace.Open(filepath.Join(dir, name), trace.WithContext(context.Background()))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range tr.Records() {
			if err == nil {
				n++
			}
		}
		tr.Close()
	}
	return n
}

// manifests adds up what the manifests of a lake say, and checks that the files are there.
func manifests(t *testing.T, lake string) int {
	paths, err := filepath.Glob(filepath.Join(lake, "_traces", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m parquet.Manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		sum += int(m.Events)
		for _, f := range m.Files {
			if _, err := os.Stat(filepath.Join(lake, f.Path)); err != nil {
				t.Error(err)
			}
		}
	}
	return sum
}
