package fingerprint

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

func Example() {
	_, err := Of("missing.man")
	fmt.Println(os.IsNotExist(err))
	// Output: true
}

// TestOf: the text of the manifest counts and of its overrides, not how lines end.
func TestOf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.man")
	of := func(manifest string) string {
		t.Helper()
		testio.Write(t, path, manifest)
		got, err := Of(path)
		if err != nil || len(got) != 32 {
			t.Fatalf("%q, %v", got, err)
		}
		return got
	}
	first := of("<a/>\n<b/>\n")
	if got := of("<a/>\r\n<b/>\r\n"); got != first {
		t.Error("line ends count")
	}
	if of("<a/>\n<c/>\n") == first || of("<a/>\n<b/>") == first {
		t.Error("another text has the same fingerprint")
	}
	if of("\x00\r\n") == of("\x00\n") {
		t.Error("line ends of what is no text do not count")
	}
	testio.Write(t, filepath.Join(dir, "a.overrides"), "")
	if of("<a/>\n<b/>\n") == first {
		t.Error("overrides do not count")
	}
	if path = filepath.Join(dir, "b.overrides"); of("x") == "" {
		t.Error("a manifest named like overrides has none")
	}
}
