package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var licence = regexp.MustCompile(`(?i)(^|\.)(licen[cs]e|copying|notice|patents)`)

// notices returns the licences of all that is in programs: of the modules, which a module in a folder
// requires, of Go, and of the library that draws in pages.
func notices(from string, programs ...string) ([]byte, error) {
	var b bytes.Buffer
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	folders := map[string]string{"Go": strings.TrimSpace(string(goroot)), "uPlot, in export/html": "export/html/assets"}
	for _, name := range programs {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range info.Deps {
			if strings.HasPrefix(m.Path, "github.com/etwgen/") {
				continue
			}
			list := exec.Command("go", "list", "-mod=mod", "-m", "-json", m.Path)
			list.Dir = from
			out, err := list.Output()
			if err != nil {
				return nil, fmt.Errorf("go list -m %s: %w", m.Path, err)
			}
			var at struct{ Dir string }
			if err := json.Unmarshal(out, &at); err != nil {
				return nil, err
			}
			folders[m.Path+" "+m.Version] = at.Dir
		}
	}
	for _, of := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folders[of])
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !licence.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folders[of], e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&b, "==== %s: %s\n\n%s\n", of, e.Name(), text)
		}
		if !found {
			return nil, fmt.Errorf("no licence of %s in %s", of, folders[of])
		}
	}
	return b.Bytes(), nil
}
