package html

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // of the archive
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"

	"github.com/etwgen/etwgen/internal/packed"
)

//go:generate go run github.com/etwgen/etwgen/internal/packed/folder assets

//go:embed assets.zip
var archive string

// assets are the scripts and the style sheets, packed so that they take less of the program.
var assets = packed.Files(archive)

// A page is a page to write.
type page struct {
	title   string
	kind    string   // of the body
	styles  []string // names of assets
	scripts []string
	data    any      // that the scripts show
	lines   []string // what is said where no script runs
}

// plotting is the script that is not ours.
const plotting = "uPlot.iife.min.js"

// An asset is a script or a style sheet, and the checksum by which the policy of the
// page knows it.
type asset struct{ text, sum string }

// read returns an asset as it stands in the page.
func read(name string) asset {
	b, err := Asset(name)
	if err != nil {
		panic(err) // it is part of the program
	}
	text := "\n" + strings.TrimSpace(string(b)) + "\n"
	if name == plotting { // its licence goes where it goes
		license, err := Asset("uPlot.LICENSE.txt")
		if err != nil {
			panic(err)
		}
		text = "\n/*\n" + string(license) + "*/" + text
	}
	sum := sha256.Sum256([]byte(text))
	return asset{text, "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"}
}

// Asset returns a script or a style sheet of pages, for whoever serves pages of the same parts.
func Asset(name string) ([]byte, error) { return fs.ReadFile(assets(), name) }

// policy returns the content security policy: nothing but these scripts and styles.
// Texts can not become elements, since no function that would make them ones may be
// called.
func policy(styles, scripts []asset) string {
	sums := func(list []asset) string {
		var b strings.Builder
		for _, a := range list {
			b.WriteString(" " + a.sum)
		}
		return b.String()
	}
	return "default-src 'none'; script-src" + sums(scripts) + "; style-src" + sums(styles) +
		"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}

// write writes the page.
func (p *page) write(dst io.Writer) error {
	var styles, scripts []asset
	for _, name := range p.styles {
		styles = append(styles, read(name))
	}
	for _, name := range p.scripts {
		scripts = append(scripts, read(name))
	}
	w := bufio.NewWriterSize(dst, 1<<16)
	title := html.EscapeString(p.title)
	fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s</title>
`, policy(styles, scripts), title)
	for _, s := range styles {
		fmt.Fprintf(w, "<style>%s</style>\n", s.text)
	}
	fmt.Fprintf(w, "</head>\n<body class=%q>\n<main id=\"page\"></main>\n", p.kind)
	fmt.Fprintf(w, "<noscript><h1>%s</h1><p>Charts and tables take JavaScript, which is off. In short:</p><ul>\n", title)
	for _, line := range p.lines {
		fmt.Fprintf(w, "<li>%s</li>\n", html.EscapeString(line))
	}
	w.WriteString("</ul></noscript>\n<script type=\"application/json\" id=\"data\">")
	// The encoder escapes <, > and &, so that no text ends the element, and the
	// separators of lines that scripts do not take for some.
	if err := json.NewEncoder(w).Encode(p.data); err != nil {
		return err
	}
	w.WriteString("</script>\n")
	for _, s := range scripts {
		fmt.Fprintf(w, "<script>%s</script>\n", s.text)
	}
	w.WriteString("</body>\n</html>\n")
	return w.Flush()
}
