package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/ecma335/ecma335test"
	"github.com/etwgen/etwgen/internal/testio"
)

// TestEventSource generates the package of the page on EventSource classes from an
// assembly with its class, and compiles the page's program with it.
func TestEventSource(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	_, source, _ := strings.Cut(page(t, filepath.Join(root, "docs/eventsource.md")), "```go\n")
	source, _, ok := strings.Cut(source, "```")
	if !ok || !strings.Contains(source, `"example.com/app/orders"`) {
		t.Fatalf("the page has no program: %q", source)
	}
	const inModule = "tests/docs/eventsource"
	source = strings.Replace(source, "example.com/app", "github.com/etwgen/etwgen/"+inModule, 1)

	dir := t.TempDir()
	dll, orders := filepath.Join(dir, "Shop.dll"), filepath.Join(dir, "orders")
	testio.Write(t, dll, ecma335test.Shop())
	generate := exec.Command("go", "run", "./cmd/etwgen", "gen", "-o", orders, dll)
	generate.Dir = root
	if out, err := generate.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, filepath.Join(dir, "main.go"), source)

	// The overlay puts the files into the module without writing there.
	module := testio.Abs(t, root)
	files := map[string]string{filepath.Join(module, inModule, "main.go"): filepath.Join(dir, "main.go")}
	generated := testio.Glob(t, filepath.Join(orders, "*.go"))
	for _, file := range generated {
		files[filepath.Join(module, inModule, "orders", filepath.Base(file))] = file
	}
	overlay := testio.Marshal(t, map[string]any{"Replace": files})
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", os.DevNull, "./"+inModule)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
