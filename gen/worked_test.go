package gen

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestWorkedExample holds the example at the top of emit_decode.go against the code that it
// is about, and against the output of that code.
func TestWorkedExample(t *testing.T) {
	source := read(t, "emit_decode.go")
	comment, code, _ := strings.Cut(source, "\nfunc ")
	_, example, _ := strings.Cut(comment, "the lines\n//\n")
	from, rest, _ := strings.Cut(example, "// in decodeBody make\n//\n")
	to, _, _ := strings.Cut(rest, "//\n// A Statement")
	contains(t, "emit_decode.go", code, from)
	contains(t, "the generated package", read(t, "../generated/clr/garbagecollection.etw.go"), to)
}

func read(t *testing.T, path string) string {
	t.Helper()
	return string(testio.Read(t, path))
}

// contains checks that the lines of a comment stand in code.
func contains(t *testing.T, what, code, comment string) {
	t.Helper()
	lines := 0
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "//"))
		if line == "" {
			continue
		}
		lines++
		if !strings.Contains(code, "\t"+line+"\n") {
			t.Errorf("%s has no line %s", what, line)
		}
	}
	if lines < 5 {
		t.Errorf("only %d lines for %s", lines, what)
	}
}
