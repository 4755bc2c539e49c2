package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A prose is text of one kind, line by line, and the levels that its habits must not exceed:
// they are the ones reached, and only go down.
type prose struct {
	kind                  string
	what, none, sentences float64 // clauses and long sentences, of 1,000 lines
	lines                 []string
}

// Clauses that begin with "what" hide the noun, and "is none" the verb.
var (
	whatClause   = regexp.MustCompile(`\b[Ww]hat\b`)
	isNone       = regexp.MustCompile(`(\bthere )?\b(is|are) none\b`)
	sentenceEnd  = regexp.MustCompile(`[.:;?!]( |$)`)
	fencedCode   = regexp.MustCompile("(?ms)^```.*?^```")
	ofOwnManner  = regexp.MustCompile(`^\s*([-*|>#]|\d+\.)`)
	generatedDoc = regexp.MustCompile(`^docs/(clr|kernel)/.*/`)
)

// longSentence is the number of words from which on a sentence is hard to read.
const longSentence = 40

// TestProse counts the worst habits of our English, in comments, pages and the texts of both tools.
func TestProse(t *testing.T) {
	comments := &prose{kind: "comments", what: 10, none: 0.5, sentences: 0.3}
	pages := &prose{kind: "pages", what: 6.5, none: 1, sentences: 3}
	texts := &prose{kind: "texts of the tools", what: 3, none: 0.5, sentences: 2}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name[0] == '.' || name == "testdata" || name == "want"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		in, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch in = filepath.ToSlash(in); {
		case strings.HasSuffix(in, ".go"):
			return readGo(path, comments, texts, strings.HasPrefix(in, "cmd/") && !strings.HasSuffix(in, "_test.go"))
		case strings.HasSuffix(in, ".md") && !generatedDoc.MatchString(in):
			return readPage(path, pages)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*prose{comments, pages, texts} {
		p.judge(t)
	}
}

// judge counts the habits, and compares them with their levels.
func (p *prose) judge(t *testing.T) {
	what, none, long := 0, 0, 0
	for _, line := range p.lines {
		what += len(whatClause.FindAllString(line, -1))
		for _, found := range isNone.FindAllString(line, -1) {
			if !strings.HasPrefix(found, "there") {
				none++
			}
		}
	}
	for _, sentence := range sentenceEnd.Split(strings.Join(p.lines, "\n"), -1) {
		if !strings.Contains(sentence, "\n\n") && len(strings.Fields(sentence)) > longSentence {
			long++
		}
	}
	lines := float64(len(p.lines))
	for _, h := range []struct {
		name  string
		count int
		most  float64
	}{
		{"clauses with what", what, p.what}, {"is none", none, p.none}, {"sentences of more than 40 words", long, p.sentences},
	} {
		got := 1000 * float64(h.count) / lines
		t.Logf("%s: %s: %d in %.0f lines, %.2f of 1,000", p.kind, h.name, h.count, lines, got)
		if got > h.most {
			t.Errorf("%s: %s: %.2f of 1,000 lines, more than the %.2f that were reached", p.kind, h.name, got, h.most)
		}
	}
	if lines < 500 {
		t.Errorf("%s: only %.0f lines were found", p.kind, lines)
	}
}

// readGo adds the comments of a file that people write, and of a tool the texts in its code.
func readGo(path string, comments, texts *prose, isTool bool) error {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return err
	}
	for _, group := range f.Comments {
		comments.lines = append(comments.lines, strings.Split(group.Text(), "\n")...)
	}
	if isTool {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
				texts.lines = append(texts.lines, strings.Trim(lit.Value, "\"`"), "")
			}
			return true
		})
	}
	return nil
}

// readPage adds the text of a page, without code. Rows, items and headings are sentences of
// their own.
func readPage(path string, pages *prose) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(fencedCode.ReplaceAllString(string(data), "")) {
		if ofOwnManner.MatchString(line) {
			pages.lines = append(pages.lines, "")
		}
		pages.lines = append(pages.lines, strings.TrimSpace(strings.ReplaceAll(line, "|", ". ")))
	}
	return nil
}
