package parquet_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/testio"
)

// lots returns how often a test tries: a share, or with ETWGEN_KILLS=all so often, which takes
// minutes.
func lots(share, all int) int {
	if os.Getenv("ETWGEN_KILLS") == "all" {
		return all
	}
	return share
}

// healthy reads a lake, all of whose files have to be there, and returns its rows by trace id.
func healthy(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	l, err := parquet.OpenLake(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check()
	if err != nil || len(r.Missing) > 0 || len(l.Damaged) > 0 {
		t.Fatalf("%v, missing %q, damaged %v", err, r.Missing, l.Damaged)
	}
	rows := make(map[string]int64)
	for _, m := range l.Manifests {
		for _, f := range m.Files {
			if f.Table == "" {
				rows[m.TraceID] += f.Rows
			}
		}
	}
	return rows
}

// Exports of one recording at the same time leave it whole, once, and nothing else.
func TestRaces(t *testing.T) {
	o := options(t)
	for range lots(10, 200) {
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				src := newRecords(300)
				src.change = schemas(8)
				if _, err := parquet.Export(context.Background(), src, o, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if rows := healthy(t, o.Dir); len(rows) != 1 || rows[parquet.TraceID(o.Host, o.ID)] != 300 {
			t.Fatalf("the lake has %v", rows)
		}
		if list := files(t, o.Dir); len(list) != 10 {
			t.Fatalf("there are %q", list)
		}
	}
}

// An export that is killed leaves the recording as it was, or as it is to be; files that
// nobody sees then can be removed.
func TestKills(t *testing.T) {
	if dir := os.Getenv("LAKE_TO_EXPORT_TO"); dir != "" {
		o := options(t)
		o.Dir, o.ID = dir, os.Getenv("LAKE_CONTENT")
		src := newRecords(600)
		src.change = schemas(30)
		fmt.Println("begin")
		export(t, src, o)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("a killed process takes long there")
	}
	dir := t.TempDir()
	want := make(map[string]int64)
	cut, left := 0, t.TempDir()
	for i := range lots(12, 1000) {
		content := fmt.Sprint(i / 3) // each three times
		cmd := exec.Command(os.Args[0], "-test.run=^TestKills$")
		cmd.Env = append(os.Environ(), "LAKE_TO_EXPORT_TO="+dir, "LAKE_CONTENT="+content, "TMPDIR="+left) // a killed one leaves its own
		out := testio.Start(t, cmd)
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		id := parquet.TraceID(options(t).Host, content)
		if err == nil {
			want[id] = 600
		} else {
			cut++
		}
		if _, err := os.Stat(filepath.Join(dir, "_traces")); err != nil {
			continue // there is no lake yet
		}
		rows := healthy(t, dir)
		if rows[id] == 600 {
			want[id] = 600 // it was killed after the manifest
		}
		if !maps.Equal(rows, want) {
			t.Fatalf("after %d: the lake has %v, not %v", i, rows, want)
		}
	}
	t.Logf("%d were killed", cut)
	if _, err := os.Stat(filepath.Join(dir, "_traces")); err != nil {
		t.Skip("all of them were killed too early")
	}
	l, err := parquet.OpenLake(dir)
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := l.Clean(time.Hour); err != nil || len(removed) > len(l.Replaced) {
		t.Errorf("%q were removed, although they are young: %v", removed, err)
	}
	if _, err := l.Clean(-time.Hour); err != nil {
		t.Fatal(err)
	}
	if rows := healthy(t, dir); !maps.Equal(rows, want) {
		t.Errorf("once it is clean, the lake has %v, not %v", rows, want)
	}
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, "_runs") {
			t.Errorf("%s is left", name)
		}
	}
}

// Recordings of the same name, however many, are all there.
func TestSameNames(t *testing.T) {
	o := options(t)
	n := lots(100, 33333)
	for i := range n {
		o.ID = fmt.Sprint(i)
		export(t, newRecords(1), o)
	}
	if rows := healthy(t, o.Dir); len(rows) != n {
		t.Errorf("there are %d of %d", len(rows), n)
	}
}

// Check finds a file that is gone, cut or changed in size, and one of which no manifest speaks.
func TestCheck(t *testing.T) {
	o := options(t)
	src := newRecords(100)
	src.change = schemas(4)
	m := export(t, src, o)
	at := func(i int) string { return filepath.Join(o.Dir, filepath.FromSlash(m.Files[i].Path)) }
	if err := os.Remove(at(0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(at(1), m.Files[1].Bytes-1); err != nil {
		t.Fatal(err)
	}
	b := testio.Read(t, at(2))
	testio.Write(t, at(2), append(b[:len(b)-1:len(b)-1], 'X'))
	orphan := filepath.Join(filepath.Dir(at(3)), "orphan.parquet")
	testio.Write(t, orphan, b)
	l, err := parquet.OpenLake(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check()
	if err != nil || len(r.Missing) != 3 || len(r.Orphans) != 1 || r.OrphanBytes != int64(len(b)) {
		t.Errorf("%v, %+v", err, r)
	}
	var sql strings.Builder
	if err := l.View(&sql, "s3://b/l"); err != nil || strings.Contains(sql.String(), "orphan") || strings.Count(sql.String(), "'s3://b/l/event=Test.") != 4 {
		t.Errorf("%v: %s", err, sql.String())
	}
	if removed, err := l.Clean(-time.Hour); err != nil || len(removed) != 1 {
		t.Errorf("%q, %v", removed, err)
	}
	if _, err := parquet.OpenLake(t.TempDir()); err == nil {
		t.Error("an empty folder is a lake")
	}
}
