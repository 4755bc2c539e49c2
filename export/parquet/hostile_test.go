package parquet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/testio"
)

// A manifest that lists files which no lake has counts as damaged: nothing that it names is opened, copied,
// removed, or comes into a statement.
func TestHostileManifests(t *testing.T) {
	const outside = "outside.parquet"
	for name, change := range map[string]func(m map[string]any){
		"null":         func(m map[string]any) { m["files"] = []any{nil, nil} },
		"above":        func(m map[string]any) { m["files"] = []any{map[string]any{"path": "event=a/../../" + outside}} },
		"absolute":     func(m map[string]any) { m["files"] = []any{map[string]any{"path": "/event=a/b.parquet"}} },
		"another kind": func(m map[string]any) { m["files"] = []any{map[string]any{"path": "README.md"}} },
		"a line":       func(m map[string]any) { m["files"] = []any{map[string]any{"path": "event=a/\n;.parquet"}} },
		"another id":   func(m map[string]any) { m["traceId"] = "') OR 1 = 1 --" },
		"no id":        func(m map[string]any) { m["traceId"] = "" },
	} {
		dir := filepath.Join(t.TempDir(), "lake")
		o := options(t)
		o.Dir = dir
		m := export(t, newRecords(10), o)
		kept := filepath.Join(filepath.Dir(dir), outside)
		testio.Write(t, kept, []byte("PAR1"))
		testio.Write(t, filepath.Join(dir, "README.md"), []byte("PAR1"))
		changeManifest(t, dir, m, change)
		l, err := parquet.OpenLake(dir)
		if err != nil || len(l.Damaged) != 1 || len(l.Manifests) != 0 {
			t.Errorf("%s: %v, %d manifests, damaged are %v", name, err, len(l.Manifests), l.Damaged)
			continue
		}
		if _, err := l.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := l.Clean(-time.Hour); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, path := range []string{kept, filepath.Join(dir, "README.md")} {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// A quote or a backslash in the name of a file does not end the text of a statement.
func TestHostileFileNames(t *testing.T) {
	o := options(t)
	m := export(t, newRecords(10), o)
	changeManifest(t, o.Dir, m, func(m map[string]any) {
		m["files"] = []any{map[string]any{"path": `event=a\" AS SELECT 1; --/d/\' OR 1) --.parquet`}}
	})
	l, err := parquet.OpenLake(o.Dir)
	if err != nil || len(l.Damaged) != 0 {
		t.Fatal(err, l.Damaged)
	}
	var sql strings.Builder
	if err := l.ClickHouse(&sql, func(string) string { return "x" }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`VIEW "a\\\" AS SELECT 1; --" AS`, `'\\\' OR 1) --.parquet'`} {
		if !strings.Contains(sql.String(), want) {
			t.Errorf("without %s: %s", want, &sql)
		}
	}
}

func changeManifest(t *testing.T, dir string, m *parquet.Manifest, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, "_traces", m.TraceID[:2], m.TraceID+"-"+m.Run+".json")
	var doc map[string]any
	testio.JSON(t, testio.Read(t, path), &doc)
	change(doc)
	b := testio.Marshal(t, doc)
	testio.Write(t, path, b)
}
