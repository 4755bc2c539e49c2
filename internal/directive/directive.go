// Package directive finds the line of go:generate that runs etwgen gen for a package.
package directive

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// In returns the arguments of etwgen gen in the first line of a Go file in folder that makes
// the package in dir.
func In(folder, dir string) ([]string, bool) {
	entries, _ := os.ReadDir(folder) // without the folder there is no line
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(folder, e.Name()))
		for line := range strings.Lines(string(text)) {
			rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "//go:generate ")
			if !ok {
				continue
			}
			args, ok := ofGen(rest)
			if ok && filepath.Join(folder, output(args)) == filepath.Clean(dir) {
				return args, true
			}
		}
	}
	return nil, false
}

// ofGen returns the arguments of etwgen gen in a command, however it runs etwgen.
func ofGen(command string) ([]string, bool) {
	words, err := Split(command)
	if err != nil {
		return nil, false
	}
	for i := 1; i < len(words); i++ {
		tool, _, _ := strings.Cut(path.Base(filepath.ToSlash(words[i-1])), "@")
		if words[i] == "gen" && strings.TrimSuffix(tool, ".exe") == "etwgen" {
			return words[i+1:], true
		}
	}
	return nil, false
}

// output returns the folder that arguments of etwgen gen name.
func output(args []string) string {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case name != "-o" && name != "--output":
			if short, ok := strings.CutPrefix(arg, "-o"); ok {
				return filepath.FromSlash(short)
			}
		case joined:
			return filepath.FromSlash(value)
		case i+1 < len(args):
			return filepath.FromSlash(args[i+1])
		}
	}
	return "."
}

// Split returns the words of a command as go:generate does: a quoted text is one.
func Split(line string) ([]string, error) {
	var args []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " \t") {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			word, _ = strconv.Unquote(quoted)
			end = len(quoted)
		}
		args = append(args, word)
		line = line[end:]
	}
	return args, nil
}

// Root returns the root of the module that dir is in, or "".
func Root(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// ImportPath returns the import path of the folder that has the line which makes the package in
// dir: dir itself, or any of its module. Go generate takes it in each folder of the module, as
// it does not take a path of files. It returns "" if no folder has one.
func ImportPath(dir string) string {
	root := Root(dir)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if root == "" || err != nil {
		return ""
	}
	found := ""
	if _, ok := In(dir, dir); ok {
		found = dir
	} else {
		found = search(root, dir)
	}
	below, err := filepath.Rel(root, found)
	if found == "" || err != nil {
		return ""
	}
	for line := range strings.Lines(string(mod)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "module" {
			return path.Join(strings.Trim(words[1], "\"`"), filepath.ToSlash(below))
		}
	}
	return ""
}

// search returns the folder in the module at root that has the line for dir, or "".
func search(root, dir string) string {
	found := ""
	filepath.WalkDir(root, func(folder string, d fs.DirEntry, err error) error { // what cannot be read has none
		if err != nil || !d.IsDir() {
			return nil
		}
		if name := d.Name(); folder != root && (name == "vendor" || name == "testdata" || name[0] == '.' || name[0] == '_' || Root(folder) == folder) {
			return fs.SkipDir
		}
		if _, ok := In(folder, dir); ok {
			found = folder
			return fs.SkipAll
		}
		return nil
	})
	return found
}
