// Package examples holds small programs to copy from. Each has its own test; the
// one here is for the example that is a module of its own.
package examples

import (
	"os/exec"
	"testing"
)

func TestCustomManifest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds another module")
	}
	for _, args := range [][]string{
		{"tool", "etwgen", "diff", "-o", "events", "--package", "events", "events/shop.man"}, // go generate would change nothing
		{"vet", "./..."},
		{"test", "./..."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = "custom"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}
