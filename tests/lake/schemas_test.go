package lake

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestSchemas checks the examples by the types of Grafana and Kubernetes, which know of a wrong name.
func TestSchemas(t *testing.T) {
	node, dir := laidOut(t, "TypeScript", "schemas", "typescript")
	for _, x := range []struct{ file, objects, right, wrong string }{
		{"grafana.json", "1", `"gridPos"`, `"gridPoz"`},
		{"backfill.yaml", "2", "completionMode:", "completionsMode:"},
		{"live.yaml", "2", "volumeMounts:", "volumeMount:"},
	} {
		text := string(testio.Read(t, filepath.Join("../../examples/lake", x.file)))
		check := func(text string) (string, error) {
			path := filepath.Join(t.TempDir(), x.file)
			testio.Write(t, path, []byte(text))
			out, err := exec.Command(node, "schemas.mjs", dir, path).CombinedOutput()
			return string(out), err
		}
		if out, err := check(text); err != nil || out != x.objects+" checked\n" {
			t.Errorf("%s: %v\n%s", x.file, err, out)
		}
		if out, err := check(strings.Replace(text, x.right, x.wrong, 1)); err == nil || !strings.Contains(out, "does not exist in type") {
			t.Errorf("%s with %s: %v\n%s", x.file, x.wrong, err, out)
		}
	}
}
