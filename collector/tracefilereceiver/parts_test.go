package tracefilereceiver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// partOf makes a trace of those records of another that are wanted, with its header and its
// first record, as filters do.
func partOf(t *testing.T, from string, wanted func(n int) bool) []byte {
	t.Helper()
	r := testio.Open(t, nettrace.Open, from)
	defer r.Close()
	var out bytes.Buffer
	w, err := nettrace.NewWriter(&out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	var rec etw.Record
	n := 0
	for ; ; n++ {
		if err = r.Next(&rec); err != nil {
			break
		}
		if n == 0 || wanted(n) {
			if err := w.Copy(r, &rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close()); err != nil {
		t.Fatal(err)
	}
	if n < 100 || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(n, err)
	}
	return out.Bytes()
}

// TestParts has parts of a trace in a folder, alone and beside the whole, in every order: all of
// each is sent, and once. A copy of one and a part that is cut off are not sent again.
func TestParts(t *testing.T) {
	from := filepath.Join(recorded, "gc.nettrace")
	whole := testio.Read(t, from)
	parts := map[string][]byte{
		"whole": whole,
		"even":  partOf(t, from, func(n int) bool { return n%2 == 0 }),
		"odd":   partOf(t, from, func(n int) bool { return n%2 == 1 }),
		"begin": partOf(t, from, func(n int) bool { return n < 50 }),
	}
	for _, order := range [][]string{{"even", "odd"}, {"odd", "even"}, {"even", "whole"}, {"whole", "even"}, {"begin", "odd", "whole", "even"}} {
		dir, keep, s := t.TempDir(), &memory{}, &sink{}
		want := 0
		for i, name := range order {
			path := filepath.Join(dir, fmt.Sprint(i, ".nettrace"))
			write(t, path, parts[name])
			want += events(t, path)
			all(t, config(dir), keep, s)
			if s.count != want {
				t.Errorf("%v, up to %s: %d log records, want %d", order, name, s.count, want)
			}
			write(t, filepath.Join(dir, fmt.Sprint(i, "copy.nettrace")), parts[name])
			write(t, filepath.Join(dir, fmt.Sprint(i, "cut.nettrace")), parts[name][:len(parts[name])*9/10])
			all(t, config(dir), keep, s)
			if s.count != want {
				t.Errorf("%v, with copies of %s: %d log records, want %d", order, name, s.count, want)
			}
		}
	}
}
