package trace

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestMapFiles: a file that is mapped says the same as one that is read, knows how much
// of it was read, and ends when its context does.
func TestMapFiles(t *testing.T) {
	paths := testio.Glob(t, filepath.Join("..", "tests", "recorded", "*.nettrace"))
	for _, path := range append(paths, write(t, "small", netTrace(sessionStart, 1, 2, 3))) {
		read, mapped := opened(t, path), opened(t, path, WithMapping())
		var a, b etw.Record
		progress := 0.0
		for n := 0; ; n++ {
			errA, errB := read.Next(&a), mapped.Next(&b)
			if (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error() {
				t.Fatalf("%s, record %d: %v, mapped %v", path, n, errA, errB)
			}
			if p := mapped.Progress(); p < progress || p > 1 {
				t.Fatalf("%s, record %d: %v is read, after %v", path, n, p, progress)
			} else {
				progress = p
			}
			if errA != nil {
				break
			}
			if a.Timestamp != b.Timestamp || a.Key() != b.Key() || string(a.Payload) != string(b.Payload) || a.Stack.Len() != b.Stack.Len() {
				t.Fatalf("%s, record %d: %v, mapped %v", path, n, a, b)
			}
		}
		if progress != 1 || read.Stats() != mapped.Stats() {
			t.Errorf("%s: %v is read at the end: %+v, mapped %+v", path, progress, read.Stats(), mapped.Stats())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	mapped := opened(t, paths[0], WithMapping(), WithContext(ctx))
	cancel()
	if err := mapped.Next(new(etw.Record)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func opened(t *testing.T, path string, opts ...Option) *File {
	t.Helper()
	files := testio.Open(t, OpenFiles, path, opts...)
	t.Cleanup(func() { files[0].Close() })
	return files[0]
}
