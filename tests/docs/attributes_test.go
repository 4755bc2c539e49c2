package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestAttributes: docs/telemetry.md lists each attribute that the code writes.
func TestAttributes(t *testing.T) {
	_, listed, _ := strings.Cut(page(t, filepath.Join(root, "docs/telemetry.md")), "\n## Attributes\n")
	listed, _, ok := strings.Cut(listed, "\n## ")
	if !ok {
		t.Fatal("the section is called otherwise")
	}
	name := regexp.MustCompile(`"((etw|code|file|host|http|log|os|process|profile|service|container|thread|error|etwgen\.gc|dotnet\.gc\.heap)\.[a-z_.]*[a-z])"`)
	other := regexp.MustCompile(`\.(nettrace|etl|duration|total_allocated)$`) // files, and metrics
	found := 0
	for _, pattern := range []string{"export/otlp/*.go", "collector/*receiver/*.go", "collector/internal/flow/*.go"} {
		files := testio.Glob(t, filepath.Join(root, pattern))
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(filepath.Base(file), "generated_") {
				continue
			}
			b := testio.Read(t, file)
			for _, m := range name.FindAllStringSubmatch(string(b), -1) {
				if found++; !strings.Contains(listed, "`"+m[1]+"`") && !other.MatchString(m[1]) {
					t.Errorf("docs/telemetry.md does not have %s, of %s", m[1], file)
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("%d names were found", found)
	}
}
