package parquet_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/testio"
)

// compact merges, and returns how many recordings it has merged.
func compact(t *testing.T, dir string) (n int) {
	t.Helper()
	if err := parquet.Compact(context.Background(), dir, parquet.Day, func(c parquet.Compacted) { n += c.Recordings }); err != nil {
		t.Fatal(err)
	}
	return n
}

// exported exports a recording of some rows, one of several of a day.
func exported(t *testing.T, o parquet.Options, id, rows int) *parquet.Manifest {
	t.Helper()
	o.ID = fmt.Sprint(id)
	o.Start = time.Date(2026, 11, 20+id%2, 1, 0, 0, 0, time.UTC)
	src := newRecords(rows)
	src.change = schemas(6)
	return export(t, src, o)
}

func parquetFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, name := range files(t, dir) {
		if strings.HasSuffix(name, ".parquet") {
			n++
		}
	}
	return n
}

// Recordings of two days become two sets of files; later ones, and later exports of the same, count
// beside them, and a further compaction drops the stale rows.
func TestCompact(t *testing.T) {
	o := options(t)
	want := make(map[string]int64)
	put := func(id, rows int) {
		m := exported(t, o, id, rows)
		want[m.TraceID] = int64(rows)
	}
	hold := func(files int) {
		t.Helper()
		if rows := healthy(t, o.Dir); fmt.Sprint(rows) != fmt.Sprint(want) {
			t.Errorf("the lake has %v, not %v", rows, want)
		}
		if n := parquetFiles(t, o.Dir); n != files {
			t.Errorf("there are %d files, not %d", n, files)
		}
	}
	for i := range 8 {
		put(i, 60+i)
	}
	const types = 6 + 1 // and the table of traces
	hold(8 * types)
	if n := compact(t, o.Dir); n != 8 {
		t.Errorf("%d recordings were merged", n)
	}
	hold(2 * types)
	if n := compact(t, o.Dir); n != 0 {
		t.Errorf("%d recordings were merged again", n)
	}
	put(2, 600) // its rows in the compaction are stale now
	put(8, 30)
	hold(4 * types)
	l, err := parquet.OpenLake(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var sql strings.Builder
	o.ID = "2"
	stale := "WHERE trace_id NOT IN ('" + parquet.TraceID(o.Host, "2") + "')"
	if err := l.View(&sql, o.Dir); err != nil || strings.Count(sql.String(), stale) != types {
		t.Errorf("%v: %s", err, sql.String())
	}
	if n := compact(t, o.Dir); n != 5 {
		t.Errorf("%d recordings were merged", n)
	}
	hold(2 * types)
	if l, err = parquet.OpenLake(o.Dir); err != nil {
		t.Fatal(err)
	}
	sql.Reset()
	if err := l.View(&sql, o.Dir); err != nil || strings.Contains(sql.String(), "WHERE") {
		t.Errorf("%v: %s", err, sql.String())
	}
	if removed, err := l.Clean(-time.Hour); err != nil || len(removed) != 0 {
		t.Errorf("%q, %v", removed, err)
	}
	by := func(p parquet.Period) (dates []string) {
		if err := parquet.Compact(context.Background(), o.Dir, p, func(c parquet.Compacted) { dates = append(dates, c.Date) }); err != nil {
			t.Fatal(err)
		}
		return dates
	}
	for _, x := range []struct {
		by    parquet.Period
		put   []int // recordings before
		dates string
		files int
	}{
		{parquet.Week, nil, "[2026-11-16]", types}, // both days are in a week, which begins on a Monday
		{parquet.Week, nil, "[]", types},
		{parquet.Day, []int{3, 10, 12}, "[2026-11-20]", 3 * types}, // beside the week: two of a day, one of another
		{parquet.Day, nil, "[]", 3 * types},
		{parquet.Week, nil, "[2026-11-16]", types},
		{parquet.Month, []int{12}, "[2026-11-01]", types},
		{parquet.Week, []int{14}, "[]", 2 * types},
	} {
		for _, id := range x.put {
			put(id, 40+id)
		}
		if dates := fmt.Sprint(by(x.by)); dates != x.dates {
			t.Errorf("by %s: %s, not %s", x.by, dates, x.dates)
		}
		hold(x.files)
	}
}

// A recording with a file that is gone or damaged stays as it is, with an error that names the
// file; the others are merged.
func TestCompactDamaged(t *testing.T) {
	o := options(t)
	var broken []string
	for i := range 12 {
		m := exported(t, o, 2*i, 100)
		at := filepath.Join(o.Dir, filepath.FromSlash(m.Files[i%3].Path))
		switch i {
		case 4:
			if err := os.Remove(at); err != nil {
				t.Fatal(err)
			}
		case 8:
			b := testio.Read(t, at)
			for k := range 200 { // pages
				b[4+k] ^= 0x55
			}
			testio.Write(t, at, b)
		default:
			continue
		}
		broken = append(broken, m.Files[i%3].Path)
	}
	n := 0
	err := parquet.Compact(context.Background(), o.Dir, parquet.Day, func(c parquet.Compacted) { n += c.Recordings })
	if err == nil || n != 10 || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), broken[0]) || !strings.Contains(err.Error(), broken[1]) {
		t.Errorf("%d were merged: %v; broken are %q", n, err, broken)
	}
	if got := parquetFiles(t, o.Dir); got != 7+7+6 {
		t.Errorf("there are %d files", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	exported(t, o, 100, 10)
	exported(t, o, 102, 10)
	cancel()
	before := files(t, o.Dir)
	if err := parquet.Compact(ctx, o.Dir, parquet.Day, func(parquet.Compacted) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if after := files(t, o.Dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("it left %q, not %q", after, before)
	}
	testio.Write(t, filepath.Join(o.Dir, "_compacted", strings.Repeat("0", 24)+".json"), []byte("{"))
	if err := parquet.Compact(context.Background(), o.Dir, parquet.Day, func(parquet.Compacted) {}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v", err)
	}
}

// Exports and compactions at the same time lose nothing, and count nothing twice.
func TestCompactRaces(t *testing.T) {
	o := options(t)
	for range lots(3, 60) {
		var wait sync.WaitGroup
		for k := range 3 {
			wait.Go(func() {
				for i := range 8 {
					exported(t, o, (i+3*k)%8, 60)
				}
			})
			wait.Go(func() {
				for range 4 {
					if _, err := os.Stat(filepath.Join(o.Dir, "_traces")); err == nil {
						if err := parquet.Compact(context.Background(), o.Dir, parquet.Day, func(parquet.Compacted) {}); err != nil && !errors.Is(err, fs.ErrNotExist) {
							t.Error(err)
						}
					}
				}
			})
		}
		wait.Wait()
		rows := healthy(t, o.Dir)
		for id, n := range rows {
			if n != 60 {
				t.Fatalf("%s has %d rows", id, n)
			}
		}
		if len(rows) != 8 {
			t.Fatalf("there are %d recordings", len(rows))
		}
		compact(t, o.Dir)
		if rows := healthy(t, o.Dir); len(rows) != 8 {
			t.Fatalf("there are %d recordings", len(rows))
		}
	}
}
