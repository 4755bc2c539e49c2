package main

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols/pdb"
)

// newAnnotate returns the command that shows a source file with what its lines weigh.
func newAnnotate() *cobra.Command {
	o := profiling{lines: new(sourceLines)}
	var form output
	around := -1
	cmd := &cobra.Command{
		Use:   "annotate [flags] FILE SOURCE",
		Short: "Show a source file with what its lines weigh",
		Long: `Annotate prints a source file with what its lines weigh beside them, as lines has it:
of the samples of threads, or what --of names. SOURCE is a file at hand, or the end of the
name of one whose text the PDB has. A file at hand that is not the one that was compiled is
shown with a warning; nothing is ever taken from the network.

` + linesLong,
		Example: `  etw annotate --symbols . oven.nettrace Oven.cs
  etw annotate --symbols . --context 1 --label state=managed oven.nettrace Oven.cs`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(form.check(cmd), o.check()); err != nil {
				return err
			}
			if cmd.Flags().Changed("context") && around < 0 {
				return usagef("--context: %d is not a number of lines", around)
			}
			p, err := o.read(cmd, args[:1])
			if err != nil {
				return err
			}
			o.lines.note(p)
			out := p.open(cmd, &form)
			tab, err := p.annotated(o.lines, args[1], around)
			if err != nil {
				return p.close(cmd, out, err)
			}
			p.head(out)
			return p.close(cmd, out, tab.write(out))
		},
	}
	o.flags(cmd)
	form.flags(cmd)
	cmd.Flags().IntVar(&around, "context", around, "show only lines that weigh anything, and so many `LINES` before and after")
	return cmd
}

// annotated returns the lines of a source file.
func (p *profiled) annotated(l *sourceLines, name string, around int) (*table, error) {
	weights := p.weighLines(func(*stacks.Frame) bool { return true })
	file, err := findSource(weights, name)
	if err != nil {
		return nil, err
	}
	text, warning, err := l.text(file, name)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		p.warnings = append(p.warnings, warning)
	}
	u := p.unit()
	tab := newTable(u.column("self"), u.column("here"), u.column("total"), num("line"), column{name: "text", begin: true})
	near := make(map[int]bool)
	for place := range weights {
		for n := place.line - around; place.file == file && n <= place.line+around; n++ {
			near[n] = true
		}
	}
	for i, line := range text {
		n := i + 1
		if around >= 0 && !near[n] {
			continue
		}
		cells := []string{"", "", ""}
		if w := weights[linePlace{file, n}]; w != nil {
			cells = []string{u.cell(lastOf(w.self)), u.cell(lastOf(w.here)), u.cell(lastOf(w.total))}
		}
		tab.add(append(cells, strconv.Itoa(n), strings.ReplaceAll(strings.TrimRight(line, "\r"), "\t", "    "))...)
	}
	return tab, nil
}

// findSource returns the source file of the trace that a name is the end of.
func findSource(weights map[linePlace]*lineWeight, name string) (string, error) {
	parts := func(path string) string { return "/" + strings.TrimLeft(strings.ReplaceAll(path, `\`, "/"), "./") }
	var known, found []string
	for place := range weights {
		if !slices.Contains(known, place.file) {
			known = append(known, place.file)
		}
	}
	slices.Sort(known)
	for _, end := range []string{parts(name), "/" + lastPart(name)} {
		for _, file := range known {
			if strings.HasSuffix(parts(file), end) {
				found = append(found, file)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if len(known) == 0 {
			return "", fmt.Errorf("%s: no line of any source file is known; --symbols FOLDER says where PDBs are", name)
		}
		return "", usagef("%s: no sample is in such a file; there are %s", name, strings.Join(known[:min(5, len(known))], ", "))
	}
	return "", fmt.Errorf("%s: several files end so: %s", name, strings.Join(found, ", "))
}

// maxSourceFile is how long a source file may be.
const maxSourceFile = 64 << 20

// text returns the lines of a document, from a file at hand or from its PDB, and what is
// wrong with them.
func (l *sourceLines) text(document, path string) (lines []string, warning string, err error) {
	f, n, ok := l.Document(document)
	if !ok {
		return nil, "", fmt.Errorf("%s: no PDB has it", document)
	}
	data, err := readSource(path)
	if err == nil {
		if !sameText(data, f.Document(n)) {
			warning = path + " is not the file that was compiled: its lines may be others"
		}
		return splitLines(data), warning, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	data, ok, err = f.Source(n)
	if err != nil {
		return nil, "", err
	}
	if !ok {
		return nil, "", fmt.Errorf("%s: there is no such file, and the PDB does not have its text", path)
	}
	return splitLines(data), "", nil
}

func splitLines(text []byte) []string {
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// readSource reads a regular file that is not too long.
func readSource(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxSourceFile:
		return nil, fmt.Errorf("%s: it is no file of source code", path)
	}
	return os.ReadFile(path)
}

// sameText reports whether a file is the one that was compiled. Tools change ends of lines.
func sameText(data []byte, d pdb.Document) bool {
	unix := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	for _, text := range [][]byte{data, unix, bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))} {
		switch d.Algorithm {
		case pdb.SHA256:
			if sum := sha256.Sum256(text); bytes.Equal(sum[:], d.Hash) {
				return true
			}
		case pdb.SHA1:
			if sum := sha1.Sum(text); bytes.Equal(sum[:], d.Hash) {
				return true
			}
		default:
			return true // nobody can tell
		}
	}
	return false
}
