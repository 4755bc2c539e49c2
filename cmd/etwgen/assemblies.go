package main

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// An assemblySearch finds the assemblies that one refers to, where a program would be given
// them. The folders of a search are found when it is first asked.
type assemblySearch struct {
	path    string // of the assembly
	folders []string

	looked     bool
	frameworks []string            // folders of installed runtimes
	packages   map[string][]string // files of packages, by lower-case name
}

func newAssemblySearch(path string, folders []string) *assemblySearch {
	return &assemblySearch{path: path, folders: folders}
}

// find returns an assembly by its simple name, or nil.
func (s *assemblySearch) find(name string) []byte {
	if name != filepath.Base(name) || !filepath.IsLocal(name) {
		return nil // a name out of a file, not a path
	}
	folders := s.folders
	if s.path != stdinName {
		folders = append([]string{filepath.Dir(s.path)}, folders...)
	}
	if data := firstOf(folders, name); data != nil {
		return data
	}
	if !s.looked {
		s.looked = true
		s.frameworks = installedFrameworks(s.major())
		s.packages = s.listPackages()
	}
	for _, file := range s.packages[strings.ToLower(name)] {
		if data := readAssembly(file); data != nil {
			return data
		}
	}
	return firstOf(s.frameworks, name)
}

// firstOf returns the first of an assembly's files in some folders.
func firstOf(folders []string, name string) []byte {
	for _, folder := range folders {
		for _, extension := range []string{".dll", ".exe"} {
			if data := readAssembly(filepath.Join(folder, name+extension)); data != nil {
				return data
			}
		}
	}
	return nil
}

// largestAssembly is how many bytes an assembly may have.
const largestAssembly = 512 << 20

// readAssembly reads a regular file of a size that an assembly can have. It returns
// nil if there is none.
func readAssembly(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > largestAssembly {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestAssembly))
	if err != nil {
		return nil
	}
	return data
}

// beside returns the JSON of a file beside the assembly that has its name and another
// extension.
func (s *assemblySearch) beside(extension string, to any) bool {
	if s.path == stdinName {
		return false
	}
	data := readAssembly(strings.TrimSuffix(s.path, filepath.Ext(s.path)) + extension)
	return data != nil && json.Unmarshal(data, to) == nil
}

// major returns the version of .NET that the program is for, such as 10. It is 0 if
// nothing says so.
func (s *assemblySearch) major() int {
	type framework struct{ Version string }
	var config struct {
		RuntimeOptions struct {
			Framework  framework
			Frameworks []framework
		}
	}
	s.beside(".runtimeconfig.json", &config)
	for _, f := range append(config.RuntimeOptions.Frameworks, config.RuntimeOptions.Framework) {
		if v := versionOf(f.Version); v[0] > 0 {
			return v[0]
		}
	}
	return 0
}

// listPackages returns the files of packages that the program is built with.
func (s *assemblySearch) listPackages() map[string][]string {
	var deps struct {
		Targets   map[string]map[string]struct{ Runtime map[string]json.RawMessage }
		Libraries map[string]struct{ Path string }
	}
	home, err := os.UserHomeDir()
	root := cmp.Or(os.Getenv("NUGET_PACKAGES"), filepath.Join(home, ".nuget", "packages"))
	if err != nil && os.Getenv("NUGET_PACKAGES") == "" || !s.beside(".deps.json", &deps) {
		return nil
	}
	files := make(map[string][]string)
	for _, target := range deps.Targets {
		for library, content := range target {
			for file := range content.Runtime {
				path := filepath.Join(filepath.FromSlash(cmp.Or(deps.Libraries[library].Path, strings.ToLower(library))), filepath.FromSlash(file))
				if filepath.IsLocal(path) {
					name := strings.ToLower(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
					files[name] = append(files[name], filepath.Join(root, path))
				}
			}
		}
	}
	for _, list := range files {
		slices.Sort(list)
	}
	return files
}

// installedFrameworks returns the folders of the runtimes that are installed: those of
// a version first, if there is one of it, or else those of the newest.
func installedFrameworks(major int) []string {
	var folders []string
	for _, root := range dotnetRoots() {
		for _, kind := range []string{"Microsoft.NETCore.App", "Microsoft.AspNetCore.App", "Microsoft.WindowsDesktop.App"} {
			found, _ := filepath.Glob(filepath.Join(root, "shared", kind, "*"))
			slices.SortStableFunc(found, func(a, b string) int {
				x, y := versionOf(filepath.Base(a)), versionOf(filepath.Base(b))
				if (x[0] == major) != (y[0] == major) {
					return cmp.Compare(boolInt(y[0] == major), boolInt(x[0] == major))
				}
				return slices.Compare(y[:], x[:])
			})
			folders = append(folders, found[:min(1, len(found))]...)
		}
	}
	return folders
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// dotnetRoots returns the folders where .NET may be installed.
func dotnetRoots() []string {
	roots := []string{os.Getenv("DOTNET_ROOT")}
	if path, err := exec.LookPath("dotnet"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		roots = append(roots, filepath.Dir(path))
	}
	switch runtime.GOOS {
	case "windows":
		roots = append(roots, filepath.Join(os.Getenv("ProgramFiles"), "dotnet"))
	case "darwin":
		roots = append(roots, "/usr/local/share/dotnet")
	default:
		roots = append(roots, "/usr/share/dotnet", "/usr/lib/dotnet", "/usr/lib64/dotnet")
	}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, ".dotnet"))
	}
	return slices.DeleteFunc(roots, func(r string) bool { return r == "" || !filepath.IsAbs(r) })
}

// versionOf returns the numbers of a version such as 10.0.1-preview.2.
func versionOf(s string) [3]int {
	var v [3]int
	s, _, _ = strings.Cut(s, "-")
	for i, part := range strings.SplitN(s, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	return v
}
