package packed_test

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/etwgen/etwgen/internal/packed"
)

// TestFolder: files come back, and an archive does not tell when it was made.
func TestFolder(t *testing.T) {
	text := bytes.Repeat([]byte("const page = 1;\n"), 100)
	folder := func(at time.Time) fs.FS {
		return fstest.MapFS{"a.js": {Data: text, ModTime: at}, "b/c.css": {Data: []byte("body {}"), ModTime: at}}
	}
	one, err := packed.Folder(folder(time.Unix(1e9, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if two, err := packed.Folder(folder(time.Unix(2e9, 0))); err != nil || !bytes.Equal(one, two) || len(one) > len(text) {
		t.Errorf("%d bytes of %d, then %d, %v", len(one), len(text), len(two), err)
	}
	files := packed.Files(string(one))()
	if got, err := fs.ReadFile(files, "a.js"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%.40q, %v", got, err)
	}
	if got, err := fs.ReadFile(files, "b/c.css"); err != nil || string(got) != "body {}" {
		t.Errorf("%q, %v", got, err)
	}
}
