package gen

import (
	"fmt"
	"strings"
)

// A page is a Markdown file in the making.
type page struct{ b strings.Builder }

func newPage(title string) *page {
	w := new(page)
	w.b.WriteString(ReferenceHeader + "\n\n")
	w.heading(1, title)
	return w
}

func (w *page) heading(level int, s string) {
	w.b.WriteString(strings.Repeat("#", level) + " " + text(s) + "\n\n")
}

// para writes a paragraph, of text that is Markdown already.
func (w *page) para(s string) {
	if s != "" {
		w.b.WriteString(s + "\n\n")
	}
}

func (w *page) blank() { w.b.WriteByte('\n') }

// row writes a row of a table.
func (w *page) row(cells ...string) {
	w.b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// rule writes the line below the head of a table.
func (w *page) rule(n int) { w.b.WriteString(strings.Repeat("|---", n) + "|\n") }

func (w *page) file(name string) File {
	return File{name, []byte(strings.TrimRight(w.b.String(), "\n") + "\n")}
}

// markdown escapes the special characters of Markdown, also within a table.
var markdown = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`, "#", `\#`)

// text returns s as one line of Markdown. Empty lines between paragraphs stay
// visible in a table.
func text(s string) string {
	parts := strings.Split(s, "\n\n")
	for i, p := range parts {
		parts[i] = markdown.Replace(oneLine(p))
	}
	return strings.Join(parts, "<br>")
}

// code1 returns s as code on one line.
func code1(s string) string {
	s = strings.ReplaceAll(oneLine(s), "|", `\|`)
	if s == "" {
		return ""
	}
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

func link(s, to string) string { return fmt.Sprintf("[%s](%s)", text(s), to) }

// anchor returns the anchor that the usual hosts of Markdown make of a heading.
func anchor(heading string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case isAlnum(c) || c == '_' || c == '-':
			b.WriteRune(c)
		case c == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// count returns a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
