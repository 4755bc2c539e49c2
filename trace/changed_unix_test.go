//go:build unix

package trace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// changes are others' changes to a file while it is read. A file that is replaced or removed
// is still there for who has it open.
var changes = []struct {
	name  string
	same  bool // what was opened is still there
	apply func(path string, size int64) error
}{
	{"nothing", true, func(string, int64) error { return nil }},
	{"replaced", true, func(path string, _ int64) error {
		next := path + ".next"
		return errors.Join(os.WriteFile(next, []byte("something else"), 0o600), os.Rename(next, path))
	}},
	{"removed", true, func(path string, _ int64) error { return os.Remove(path) }},
	{"not readable any more", true, func(path string, _ int64) error { return os.Chmod(path, 0) }},
	{"cut in half", false, func(path string, size int64) error { return os.Truncate(path, size/2) }},
	{"emptied", false, func(path string, _ int64) error { return os.Truncate(path, 0) }},
	{"zeroed", false, func(path string, size int64) error {
		return errors.Join(os.Truncate(path, 0), os.Truncate(path, size))
	}},
	{"overwritten", false, func(path string, size int64) error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(i * 7)
		}
		_, err = f.WriteAt(b, 0)
		return errors.Join(err, f.Close())
	}},
}

// TestChangedFiles changes a file between its opening and its first record, and in the middle:
// reading ends, either with all records or with an error that is not the end.
func TestChangedFiles(t *testing.T) {
	var ms []int64
	for i := range int64(20_000) {
		ms = append(ms, i)
	}
	for format, data := range map[string][]byte{"nettrace": longNetTrace(4), "etl": etlTrace(t, sessionStart, ms...)} {
		all := 0
		for _, c := range changes {
			for _, after := range []int{0, 1, 100} {
				for _, opts := range [][]Option{nil, {WithMapping()}} {
					path := filepath.Join(t.TempDir(), "a."+format)
					testio.Write(t, path, data)
					what := fmt.Sprintf("%s of %d bytes, %s after %d records, mapped %t", format, len(data), c.name, after, opts != nil)
					n, err := readChanged(t, opened(t, path, opts...), after, func() error { return c.apply(path, int64(len(data))) })
					if all == 0 {
						all = n
					}
					if c.same && (n != all || err != io.EOF) || err == io.EOF && n != all || n > all {
						t.Errorf("%s: %d of %d records, %v", what, n, all, err)
					}
				}
			}
		}
	}
}

// readChanged reads a file that is changed after some records. It returns how many there were,
// and how they end: with the fault of memory that is gone, where WithMapping says so.
func readChanged(t *testing.T, f *File, after int, change func() error) (n int, err error) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault, ok := recover().(runtime.Error); ok {
			err = fault
		}
	}()
	var rec etw.Record
	for ; err == nil; n++ {
		if n == after {
			if err := change(); err != nil {
				t.Fatal(err)
			}
		}
		err = f.Next(&rec)
	}
	for range 3 {
		if again := f.Next(new(etw.Record)); again == nil {
			t.Errorf("a record comes after %v", err)
		}
	}
	return n - 1, err
}
