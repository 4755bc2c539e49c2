// House prints the measures of the module's own code, without tests and generated code: the
// sums of packages and top folders, and the parts over the limits that the tests beside it
// hold.
//
//	go run ./tests/house
//	go run ./tests/house -circle gen     # the names that tie the files of a package together
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	of := flag.String("circle", "", "print the circle of files of the package in this folder")
	flag.Parse()
	if err := run(os.Stdout, *of); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, of string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	files, err := readTree(root)
	if err != nil {
		return err
	}
	found, err := circles(root, byPath(files))
	if err != nil {
		return err
	}
	if of != "" {
		printCircle(w, found[of])
		return nil
	}
	printTotals(w, "package", files, func(f *file) string { return f.folder }, found)
	printTotals(w, "folder", files, func(f *file) string { top, _, _ := strings.Cut(f.folder, "/"); return top }, nil)
	printTotals(w, "", files, func(*file) string { return "all" }, nil)
	fmt.Fprintln(w)
	for _, m := range measures(files, found) {
		if m.over() {
			fmt.Fprintf(w, "%s %s: %d, over %d\n", m.kind, m.name, m.level, m.limit())
		}
	}
	return printCommands(w, root)
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(out))), err
}

func byPath(files []*file) map[string]*file {
	all := map[string]*file{}
	for _, f := range files {
		all[f.path()] = f
	}
	return all
}

// total is the sum of files, or the most that one of them has.
type total struct{ files, lines, comments, longest, funcs, function, complexity int }

func printTotals(w io.Writer, title string, files []*file, of func(*file) string, found map[string]circle) {
	totals := map[string]*total{}
	for _, f := range files {
		t := totals[of(f)]
		if t == nil {
			t = new(total)
			totals[of(f)] = t
		}
		t.files++
		t.lines += f.lines
		t.comments += f.comments
		t.longest = max(t.longest, f.lines)
		t.funcs += len(f.funcs)
		for _, fn := range f.funcs {
			t.function, t.complexity = max(t.function, fn.lines), max(t.complexity, fn.complexity)
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\n%s\tfiles\tlines\tcomments\tlongest file\tfunctions\tlongest\tcomplexity", title)
	if found != nil {
		fmt.Fprint(table, "\tcircle")
	}
	fmt.Fprintln(table)
	for _, name := range slices.Sorted(maps.Keys(totals)) {
		t := totals[name]
		fmt.Fprintf(table, "%s\t%d\t%d\t%.1f%%\t%d\t%d\t%d\t%d", name, t.files, t.lines,
			100*float64(t.comments)/float64(t.lines), t.longest, t.funcs, t.function, t.complexity)
		if c := found[name]; c.files > 0 {
			fmt.Fprintf(table, "\t%d lines in %d files", c.lines, c.files)
		}
		fmt.Fprintln(table)
	}
	table.Flush()
}

func printCircle(w io.Writer, c circle) {
	for _, a := range c.arrows {
		fmt.Fprintf(w, "%s -> %s: %s\n", a.from, a.to, strings.Join(a.names, " "))
	}
	fmt.Fprintf(w, "%d lines in %d files\n", c.lines, c.files)
}

// command finds the commands in the help, which has two columns.
var command = regexp.MustCompile(`  ([a-z]+) {2,}`)

func printCommands(w io.Writer, root string) error {
	cmd := exec.Command("go", "run", "./cmd/etw", "--help")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\netw has %d commands\n", len(command.FindAllString(string(out), -1)))
	return nil
}
