package main

import (
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// TestMachineryOfTop leaves the runtime's code that throws to those that called it, unless
// the names of the compiler are asked for, or patterns.
func TestMachineryOfTop(t *testing.T) {
	path := corpus.Glob(t, "dotnet10", "exceptions.nettrace")[0]
	for flags, want := range map[string]bool{"": false, "--names full": false, "--names short": false, "--raw-names": true, "--fold Nobody": true} {
		args := append([]string{"top", "--of", "exceptions", "--format", "csv", path}, strings.Fields(flags)...)
		out, errs, code := output(args...)
		if code != 0 || strings.Contains(out, "EH.DispatchEx") != want {
			t.Errorf("%q: exit code %d, frames of the runtime are to be there: %v\n%s%s", flags, code, want, out, errs)
		}
	}
}
