package main

import (
	"context"
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
	names := []string{"web1/gc.nettrace", "web2/alloc.nettrace", "web2/exceptions.nettrace"}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(recorded + filepath.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "web1", "no.nettrace"), []byte("this is no trace"), 0o666); err != nil {
		t.Fatal(err)
	}
	lake, counts := filepath.Join(dir, "lake"), filepath.Join(dir, "counts.txt")
	p, s := beam.NewPipelineWithRoot()
	build(s, filepath.Join(dir, "*", "*.nettrace"), counts, &exporter{Lake: lake, From: "{host}/*"})
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
	l, err := parquet.OpenLake(lake)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check()
	if err != nil || len(r.Missing) > 0 || r.Recordings != len(names) {
		t.Errorf("%+v, %v: not %d events", r, err, want)
	}
	hosts := make(map[string]int)
	rows := make(map[string]int64)
	for _, m := range l.Manifests {
		hosts[m.Host]++
		for _, f := range m.Files {
			rows["all of "+f.Table] += f.Rows
			rows[f.Event] += f.Rows
		}
	}
	if rows["all of "] != int64(want) || rows["all of traces"] != int64(len(names)) || rows["all of gcs"] != rows["GCStart"] || rows["GCStart"] == 0 {
		t.Errorf("%d events, and %v", want, rows)
	}
	if hosts["web1"] != 1 || hosts["web2"] != 2 {
		t.Errorf("recordings by host: %v", hosts)
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
