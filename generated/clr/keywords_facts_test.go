package clr_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestParseKeywordsKnowsFacts parses every name of a keyword that any version of
// the runtime has, in its manifest or in its messages.
func TestParseKeywordsKnowsFacts(t *testing.T) {
	data := testio.Read(t, filepath.Join(corpus.Facts(t), "clr-keywords.tsv"))
	names := 0
	for line := range strings.Lines(string(data)) {
		v := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		provider, ours := strings.CutPrefix(v[0], "Microsoft-Windows-DotNETRuntime")
		if !ours {
			continue // the heading
		}
		if provider == "" {
			provider = "Runtime"
		}
		want, err := strconv.ParseUint(v[2], 0, 64)
		if err != nil {
			t.Fatalf("bad line %q", line)
		}
		for _, name := range []string{v[1], v[4]} {
			names++
			if got, err := parsers[provider](name); err != nil || got != want {
				t.Errorf("%s %s: %#x, error %v; want %#x", provider, name, got, err, want)
			}
		}
	}
	if names < 130 {
		t.Errorf("only %d names among the facts", names)
	}
}
