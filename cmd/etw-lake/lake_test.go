package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/compare"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/internal/s3test"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// makeLake exports recordings of one day.
func makeLake(t *testing.T, dir string, first, n int) {
	t.Helper()
	for i := range n {
		w := nettracetest.NewWriter(4, nettracetest.Trace{Start: time.Date(2026, 11, 20, i, 0, 0, 0, time.UTC), Pointer: etw.Ptr64, ProcessID: 7})
		w.Metadata(nettracetest.Row{ID: 1, Provider: "Fleet", EventID: 1, Name: "Order", Fields: []nettracetest.Field{{Name: "cents", Type: 9}}})
		for k := range 10 {
			w.Events(nettracetest.Event{Metadata: 1, Time: int64(k) * 1e6, Thread: 8, Capture: 8, Payload: []byte{byte(k), 0, 0, 0}})
		}
		w.End()
		r := testio.Reader(t, nettrace.NewReader, w.Bytes())
		if _, err := parquet.Export(context.Background(), r, parquet.Options{Dir: dir, Trace: "a b.nettrace", ID: fmt.Sprint(first + i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A lake that is merged and pushed is a lake in the bucket, whose manifests came last; no object is copied
// twice.
func TestPush(t *testing.T) {
	s := &s3test.Store{ID: "id", FailEvery: 5}
	server := httptest.NewServer(s)
	defer server.Close()
	env := map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
	dir := t.TempDir()
	makeLake(t, dir, 0, 6)
	do := func(args ...string) string {
		t.Helper()
		var out strings.Builder
		if err := run(context.Background(), args, func(k string) string { return env[k] }, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if out := do("compact", dir); !strings.HasPrefix(out, "2026-11-20: 6 recordings: 2 files") {
		t.Error(out)
	}
	makeLake(t, dir, 6, 2)
	if out := do("push", dir, "s3://b/fleet"); out != "8 recordings: 15 objects copied, 0 were there\n" {
		t.Error(out)
	}
	if out := do("push", dir, "s3://b/fleet"); out != "8 recordings: 0 objects copied, 15 were there\n" {
		t.Error(out)
	}
	objects, order := s.Objects()
	step := 0
	for _, path := range order {
		now := 0
		if strings.Contains(path, "/_compacted/") {
			now = 1
		} else if strings.Contains(path, "/_traces/") {
			now = 2
		}
		if now < step {
			t.Errorf("%s came late: %q", path, order)
		}
		step = now
	}
	back := t.TempDir()
	for path, text := range objects {
		at := filepath.Join(back, filepath.FromSlash(strings.TrimPrefix(path, "/b/fleet/")))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := parquet.OpenLake(back)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check()
	if err != nil || r.Recordings != 8 || r.Rows != 8*11 || len(r.Missing)+len(r.Orphans)+len(l.Damaged) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	env["AWS_ACCESS_KEY_ID"] = "other"
	makeLake(t, dir, 8, 1)
	if err := run(context.Background(), []string{"push", dir, "s3://b/fleet"}, func(k string) string { return env[k] }, io.Discard); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("%v", err)
	}
	if err := run(context.Background(), []string{"compact"}, os.Getenv, io.Discard); err == nil || command.Began(err) {
		t.Errorf("%v", err)
	}
}

// Other places are errors, and so are missing keys.
func TestPlaces(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-central-1"}
	get := func(k string) string { return env[k] }
	b, err := newBucket("s3://b/a dir/", get)
	if err != nil || b.at.String() != "https://b.s3.eu-central-1.amazonaws.com/a%20dir/" {
		t.Errorf("%v, %v", b, err)
	}
	for _, place := range []string{"gs://b/x", "abfss://c@x/y", "b/x", "s3://", "s3:///x", "s3://b/x?y"} {
		if _, err := newBucket(place, get); err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: %v", place, err)
		}
	}
	delete(env, "AWS_SECRET_ACCESS_KEY")
	if _, err := newBucket("s3://b", get); err == nil || !strings.Contains(err.Error(), "AWS_SECRET_ACCESS_KEY") {
		t.Errorf("%v", err)
	}
}

// The signature is that of the example in the description of AWS.
func TestSign(t *testing.T) {
	b := &bucket{region: "us-east-1", now: func() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) }}
	b.keys.id, b.keys.secret = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	req, err := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Range", "bytes=0-9")
	req.Header.Set("X-Amz-Content-Sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	b.sign(req)
	const want = "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := req.Header.Get("Authorization"); !strings.HasSuffix(got, want) {
		t.Errorf("%s, not %s", got, want)
	}
}

// Views for ClickHouse read the files that hold from the folder, whatever its name, or by a collection.
func TestClickHouse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a'{b}*")
	makeLake(t, dir, 0, 2)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "/a\\'?b??/event=Fleet.Order/*/*.parquet', 'Parquet') WHERE _file IN ("},
		{[]string{"fl`eet"}, " FROM s3(`fl\\`eet`, filename = 'table=traces/*/*.parquet', format = 'Parquet') WHERE"},
		{[]string{"fleet", "all"}, " FROM s3Cluster('all', `fleet`, filename = 'event="},
	} {
		var out strings.Builder
		if err := run(context.Background(), append([]string{"clickhouse", dir}, c.names...), os.Getenv, &out); err != nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%q: %v, %s", c.names, err, out.String())
		}
	}
	for _, args := range [][]string{{"clickhouse"}, {"clickhouse", dir, "a", "b", "c"}} {
		if err := run(context.Background(), args, os.Getenv, io.Discard); err == nil || command.Began(err) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := run(context.Background(), []string{"clickhouse", t.TempDir()}, os.Getenv, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Figures are those of the recordings that selections choose, each once, merged or not.
func TestFigures(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		o := parquet.Options{Dir: dir, Trace: fmt.Sprint("t-", i), ID: fmt.Sprint(i), Resource: parquet.Resource{"service.name": fmt.Sprint("s", i%3), "team": "a/b"}, Source: map[string]string{"tables": "gcs,figures"}}
		if i == 5 {
			o.Source["tables"] = "gcs"
		}
		w, err := parquet.New(o)
		if err != nil {
			t.Fatal(err)
		}
		list := []compare.Figure{{Metric: "gc.count", Area: "collections", Value: float64(i), Sum: true}, {Metric: "x", Noise: 0.5}}
		if err := w.Figures(&parquet.Figures{List: list[:i%3], Samples: "time", Requests: int64(i)}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(parquet.Losses{Lost: int64(i)}, i != 4); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for asked, want := range map[string]string{
			"service=s1":                      `1/1/true [{gc.count collections 1}] 4/4/false [{gc.count collections 4}]`,
			"service=s0 trace=*[0-4],team=*b": `0/0/true [] 1/1/true [{gc.count collections 1}] 2/2/true [{gc.count collections 2} {x  0}] 3/3/true [] 4/4/false [{gc.count collections 4}]`,
			"service=s[02],trace=*[0-3]":      `0/0/true [] 2/2/true [{gc.count collections 2} {x  0}] 3/3/true []`,
			"service=s4":                      "no recording is service=s4; of service there is s0, s1, s2",
			"service=s1 colour=red":           "no recording is colour=red; of colour there is nothing",
			"trace=*5":                        "5 (" + parquet.TraceID("", "5") + ") was exported without its figures",
			"team":                            `"team" is no KEY=VALUE`,
			"team=[":                          "syntax error in pattern",
		} {
			var out bytes.Buffer
			if err := run(context.Background(), append([]string{"figures", dir}, strings.Fields(asked)...), os.Getenv, &out); err != nil {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", asked, err)
				}
				continue
			}
			var got []string
			for d := json.NewDecoder(&out); d.More(); {
				var f parquet.Figures
				if err := d.Decode(&f); err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf("%s/%d/%v [", f.Trace[2:], f.Lost, f.Complete)
				for i, x := range f.List {
					text += strings.Repeat(" ", min(i, 1)) + fmt.Sprint(struct {
						m, a string
						v    float64
					}{x.Metric, x.Area, x.Value})
				}
				got = append(got, text+"]")
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%s: %s, not %s", asked, text, want)
			}
		}
		if err := parquet.Compact(context.Background(), dir, parquet.Day, func(parquet.Compacted) {}); err != nil {
			t.Fatal(err)
		}
	}
}

// run executes a command line.
func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	root := newRoot(env)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(io.Discard)
	_, err := command.Execute(ctx, root)
	return err
}
