package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestFaults holds that each fault on docs/attacks.md has the test that is said to do it again.
func TestFaults(t *testing.T) {
	_, table, ok := strings.Cut(page(t, filepath.Join(root, "docs/attacks.md")), "\n## Faults and their tests\n")
	rows := regexp.MustCompile("(?m)^\\|.*\\| `([a-z0-9/]+)` (Test[A-Za-z0-9]+) \\|$").FindAllStringSubmatch(table, -1)
	if !ok || len(rows) < 19 {
		t.Fatalf("%d faults are found", len(rows))
	}
	for _, row := range rows {
		files, err := filepath.Glob(filepath.Join(root, row[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			b := testio.Read(t, file)
			found = found || strings.Contains(string(b), "\nfunc "+row[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("%s has no %s", row[1], row[2])
		}
	}
}
