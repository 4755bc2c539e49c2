package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

// TestOnlyCommandsFetch holds that no library links the package that fetches symbols by
// network: whoever imports an analysis has no client of HTTP.
func TestOnlyCommandsFetch(t *testing.T) {
	const fetch = module + "/analysis/symbols/fetch"
	out, err := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}|{{join .Imports \" \"}}", module+"/...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	commands := 0
	for line := range strings.Lines(string(out)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), "|")
		list := " " + imports + " "
		if strings.Contains(list, " "+fetch+" ") {
			if !under(path, module+"/cmd/etw") && path != module+"/tests/hostile" {
				t.Errorf("%s imports %s", path, fetch)
			}
			commands++
		}
		if strings.Contains(list, " net/http ") && under(path, module+"/analysis") && path != fetch {
			t.Errorf("%s imports net/http", path)
		}
	}
	if commands == 0 {
		t.Error("no command imports it")
	}
}
