package code

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols/pdb"
	views "github.com/etwgen/etwgen/analysis/table"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// annotate prints a source file with the weights of its lines.
func (o *Top) annotate(cmd *cobra.Command, p *Profiled) error {
	out := p.Open(cmd, &o.Out)
	if p.Len() == 0 { // why was said
		return p.Close(cmd, out, nil)
	}
	o.sourced.served = cli.IsServed(cmd)
	o.sourced.elsewhere = func(d pdb.Document, link string) (string, error) { return o.Symbols.Source(cmd, d, link) }
	tab, err := p.annotated(o.sourced, o.line.source, o.line.around, out.Format == show.FormatText || out.Format == show.FormatMD)
	if err != nil {
		return p.Close(cmd, out, err)
	}
	p.Head(out)
	return p.Close(cmd, out, tab.Write(out))
}

// annotated returns the lines of a source file, with marks where some are left out if they
// are for people.
func (p *Profiled) annotated(l *sourceLines, name string, around int, marks bool) (*show.Table, error) {
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
	numbers, last := []int{}, 0 // 0 where lines are left out
	for _, n := range shownLines(weights, file, len(text), around) {
		if marks && last > 0 && n > last+1 && last < len(text) {
			numbers = append(numbers, 0)
		}
		numbers, last = append(numbers, n), n
	}
	of := func(name string, values func(*lineWeight) []int64) views.Column[int] {
		return weight(p, name, func(n int) int64 {
			if w := weights[LinePlace{file, n}]; w != nil {
				return lastOf(values(w))
			}
			return -1
		}).Natural()
	}
	tab := pick.Rows(numbers,
		of("self", func(w *lineWeight) []int64 { return w.self }),
		of("here", func(w *lineWeight) []int64 { return w.here }),
		of("total", func(w *lineWeight) []int64 { return w.total }),
		views.ID("line", func(n int) int { return n }).Positive(),
		views.Text("text", func(n int) string { return lineOf(text, n) }))
	tab.Columns[4] = tab.Columns[4].CutAtEnd()
	return tab, nil
}

// shownLines returns the numbers of the lines that are shown of a text of so many lines:
// all, or those around lines with a weight, and lines with a weight past its end.
func shownLines(weights map[LinePlace]*lineWeight, file string, lines, around int) []int {
	near := make(map[int]bool)
	var list []int
	for place := range weights {
		if place.File != file {
			continue
		}
		if place.Line > lines {
			list = append(list, place.Line)
		}
		for n := max(place.Line-around, 1); n <= min(place.Line+around, lines); n++ {
			near[n] = true
		}
	}
	for n := 1; n <= lines; n++ {
		if around < 0 || near[n] {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// leftOut stands where lines are that are not shown.
const leftOut = "..."

// lineOf returns a line of a file as it is shown. A line with a weight past the end of a
// file at hand, which is not the one that was compiled, is shown without text.
func lineOf(text []string, n int) string {
	if n == 0 {
		return leftOut
	}
	if n > len(text) {
		return "(the file has no such line)"
	}
	return strings.ReplaceAll(strings.TrimRight(text[n-1], "\r"), "\t", "    ")
}

// findSource returns the source file of the trace that a name is the end of.
func findSource(weights map[LinePlace]*lineWeight, name string) (string, error) {
	parts := func(path string) string { return "/" + strings.TrimLeft(strings.ReplaceAll(path, `\`, "/"), "./") }
	var known, found []string
	for place := range weights {
		if !slices.Contains(known, place.File) {
			known = append(known, place.File)
		}
	}
	slices.Sort(known)
	for _, end := range []string{parts(name), "/" + pick.LastPart(name)} {
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
		return "", cli.Usagef("%s: no sample is in such a file; there are %s", name, strings.Join(known[:min(5, len(known))], ", "))
	}
	return "", fmt.Errorf("%s: several files end so: %s", name, strings.Join(found, ", "))
}

// maxSourceFile is how long a source file may be.
const maxSourceFile = 64 << 20

// text returns the lines of a document, from a file at hand, from its PDB, or from where that
// says it is, and their fault. A server opens no file because somebody names it.
func (l *sourceLines) text(document, path string) (lines []string, warning string, err error) {
	f, n, ok := l.Document(document)
	if !ok {
		return nil, "", fmt.Errorf("%s: no PDB has it", document)
	}
	data, err := []byte(nil), fs.ErrNotExist
	if !l.served {
		data, err = readSource(path)
	}
	if err == nil {
		if same, known := f.Document(n).Is(data); known && !same {
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
		data, err = l.linked(f, n, path)
	}
	return splitLines(data), "", err
}

// linked returns the text of a document that is where its PDB says it is.
func (l *sourceLines) linked(f *pdb.File, n int, path string) ([]byte, error) {
	link, ok := f.Link(n)
	if !ok {
		return nil, fmt.Errorf("%s: there is no such file, and the PDB does not have its text", path)
	}
	found, err := l.elsewhere(f.Document(n), link)
	if err != nil {
		return nil, err
	}
	if found != "" {
		return readSource(found)
	}
	return nil, fmt.Errorf("%s: there is no such file, and the PDB does not have its text, which was at %s: --symbol-path source*https://HOST has it asked for", path, link)
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
