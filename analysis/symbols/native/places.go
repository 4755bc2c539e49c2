package native

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
)

// A usualPlaces finds files in the folders in which a machine keeps them, and in no others,
// whatever paths a trace has.
type usualPlaces struct {
	Places
	roots  []string            // all folders, also where links lead
	dotNet map[string][]string // the files of .NET, by name in lower case; nil until they are known
}

func newPlaces(p Places) *usualPlaces {
	x := &usualPlaces{Places: p}
	for _, list := range [][]string{p.Libraries, p.DotNet, p.Debug} {
		for _, folder := range list {
			if !filepath.IsAbs(folder) {
				continue
			}
			x.roots = append(x.roots, filepath.Clean(folder))
			if real, err := filepath.EvalSymlinks(folder); err == nil {
				x.roots = append(x.roots, real)
			}
		}
	}
	return x
}

// holds reports whether a path is in one of the folders.
func (p *usualPlaces) holds(path string) bool {
	for _, root := range p.roots {
		if len(path) > len(root)+1 && os.IsPathSeparator(path[len(root)]) && sameName(path[:len(root)], root) {
			return true
		}
	}
	return false
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// regular returns the path of a regular file in one of the folders: links may lead to
// another place in them, but not out.
func (p *usualPlaces) regular(path string) (string, bool) {
	if p == nil || !filepath.IsAbs(path) || filepath.Clean(path) != path || !p.holds(path) {
		return "", false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !p.holds(real) {
		return "", false
	}
	info, err := os.Lstat(real)
	return real, err == nil && info.Mode().IsRegular()
}

// candidates returns the files that may be the one that a trace has a path of.
func (p *usualPlaces) candidates(path string) []string {
	if p == nil {
		return nil
	}
	var all []string
	if own, ok := p.regular(path); ok {
		all = append(all, own)
	}
	if p.dotNet == nil {
		p.findDotNet()
	}
	return append(all, p.dotNet[strings.ToLower(paths.Base(path))]...)
}

// maxUsual bounds how many files of .NET are looked at.
const maxUsual = 1 << 16

// findDotNet lists the files of .NET.
func (p *usualPlaces) findDotNet() {
	p.dotNet = make(map[string][]string)
	n := 0
	for _, folder := range p.DotNet {
		// An unreadable table has no files.
		_ = filepath.WalkDir(filepath.Join(folder, "shared"), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case n == maxUsual:
				return fs.SkipAll
			case e.Type().IsRegular():
				n++
				name := strings.ToLower(e.Name())
				p.dotNet[name] = append(p.dotNet[name], path)
			}
			return nil
		})
	}
}

// debugFiles returns the debug files that there may be for an ELF file: those with its
// build id, and those of a name that it has, near it and in the folders of such files.
func (p *usualPlaces) debugFiles(id, folder, name string) []string {
	if p == nil {
		return nil
	}
	var all []string
	add := func(parts ...string) {
		if path, ok := p.regular(filepath.Join(parts...)); ok {
			all = append(all, path)
		}
	}
	for _, debug := range p.Debug {
		if len(id) > 2 {
			add(debug, ".build-id", id[:2], id[2:]+".debug")
		}
	}
	if name == "" || name != filepath.Base(name) || folder == "" {
		return all
	}
	add(folder, name)
	add(folder, ".debug", name)
	for _, debug := range p.Debug {
		add(debug, strings.TrimPrefix(folder, filepath.VolumeName(folder)), name)
	}
	return all
}
