package desk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A shownNode is a value of a document in JSON: an object, an array, or text that is neither.
// It aliases the document.
type shownNode struct {
	Kind  byte   // '{', '[' or 0
	text  []byte // of what is neither
	names []string
	Items []*shownNode // of an array, or the values of an object
}

// ParseNodes reads a document. It is one that this program wrote, and so is valid.
func ParseNodes(document []byte) (*shownNode, error) {
	if !json.Valid(document) {
		return nil, fmt.Errorf("the answer is no document in JSON")
	}
	n, _ := parseNode(document, skipSpace(document, 0))
	n.arrange()
	return n, nil
}

// parseNode reads the value at i, and returns the place after it.
func parseNode(b []byte, i int) (*shownNode, int) {
	n := new(shownNode)
	switch b[i] {
	case '{', '[':
		n.Kind = b[i]
	case '"':
		end := endOfString(b, i)
		n.text = b[i:end]
		return n, end
	default:
		end := i
		for end < len(b) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(b[end])) {
			end++
		}
		n.text = b[i:end]
		return n, end
	}
	i = skipSpace(b, i+1)
	for b[i] != '}' && b[i] != ']' {
		if n.Kind == '{' {
			end := endOfString(b, i)
			n.names = append(n.names, string(b[i+1:end-1]))
			i = skipSpace(b, skipSpace(b, end)+1)
		}
		var item *shownNode
		item, i = parseNode(b, i)
		n.Items = append(n.Items, item)
		if i = skipSpace(b, i); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return n, i + 1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// endOfString returns the place after the string at i.
func endOfString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// Find returns the value at a path such as /runtimes/0/gcs, or nil.
func (n *shownNode) Find(path string) *shownNode {
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		i := -1
		switch n.Kind {
		case '{':
			for j, name := range n.names {
				if name == part {
					i = j
				}
			}
		case '[':
			if j, err := strconv.Atoi(part); err == nil {
				i = j
			}
		}
		if i < 0 || i >= len(n.Items) {
			return nil
		}
		n = n.Items[i]
	}
	return n
}

// String returns a text as it is.
func (n *shownNode) String() string {
	var text string
	if json.Unmarshal(n.text, &text) != nil {
		return string(n.text)
	}
	return text
}

// warn puts the messages beside a document behind its warnings.
func (n *shownNode) warn(notes []string) {
	warnings := n.Find("/warnings")
	if warnings == nil || warnings.Kind != '[' {
		return
	}
	for _, note := range notes {
		text := cli.AppendSafeJSON(nil, QuoteJSON(note))
		if !slices.ContainsFunc(warnings.Items, func(w *shownNode) bool { return bytes.Equal(w.text, text) }) {
			warnings.Items = append(warnings.Items, &shownNode{text: text})
		}
	}
}

// A Cut is where a document has more than its shown part.
type Cut struct {
	Path  string `json:"path"`
	Shown int    `json:"shown"`
	Of    int    `json:"of"`
}

// Bounds say how much of a document is shown.
type Bounds struct {
	Rows   int // of the table
	nested int // elements of other arrays of objects
	values int // elements of arrays of numbers and texts
	text   int // characters of a text
	cuts   []Cut
}

// Narrower returns bounds that let ever less through, beginning with so many rows.
func Narrower(rows int) []Bounds {
	nested := func(most int) int { return min(most, max(rows, 1)) } // who wants few rows wants few of the rest
	list := []Bounds{{rows, nested(10), 64, 2000, nil}, {rows, nested(5), 64, 1000, nil}, {rows, nested(3), 32, 500, nil}, {rows, 1, 16, 300, nil}, {rows, 0, 8, 200, nil}}
	for rows > 0 {
		rows /= 2
		list = append(list, Bounds{rows, 0, 8, 200, nil})
	}
	return append(list, Bounds{0, 0, 0, 100, nil})
}

// append appends the shown part of the value at a path.
func (s *Bounds) append(b []byte, n *shownNode, path string) []byte {
	switch n.Kind {
	case '{':
		b = append(b, '{')
		for i, item := range n.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), n.names[i]...), `":`...)
			b = s.append(b, item, path+"/"+n.names[i])
		}
		return append(b, '}')
	case '[':
		most := s.most(n, path)
		if most < len(n.Items) {
			s.cuts = append(s.cuts, Cut{path, most, len(n.Items)})
		}
		return s.AppendItems(b, n, path, 0, most)
	}
	return s.appendText(b, n.text)
}

// AppendItems appends some elements of an array.
func (s *Bounds) AppendItems(b []byte, n *shownNode, path string, from, most int) []byte {
	b = append(b, '[')
	for i := from; i < len(n.Items) && i < from+most; i++ {
		if i > from {
			b = append(b, ',')
		}
		b = s.append(b, n.Items[i], path+"/"+strconv.Itoa(i))
	}
	return append(b, ']')
}

// mostSaid is how many warnings and suggestions are shown whatever else is.
const mostSaid = 12

// mainLists are the lists that an answer is about.
var mainLists = []string{"/rows", "/groups", "/lanes", "/measures"}

// most returns how many elements of an array are shown.
func (s *Bounds) most(n *shownNode, path string) int {
	switch {
	case path == "/warnings" || path == "/next":
		return mostSaid
	case slices.Contains(mainLists, path):
		return s.Rows
	case len(n.Items) > 0 && n.Items[0].Kind == 0:
		return s.values
	}
	return s.nested
}

// appendText appends a number or a text, of which there may be too much.
func (s *Bounds) appendText(b, text []byte) []byte {
	if len(text) <= s.text || text[0] != '"' {
		return append(b, text...)
	}
	var whole string
	if json.Unmarshal(text, &whole) != nil {
		return append(b, text...)
	}
	if runes := []rune(whole); len(runes) > s.text {
		whole = string(runes[:s.text]) + show.Ellipsis
	}
	return cli.AppendSafeJSON(b, etw.AppendJSONString(nil, whole))
}

// firstSaid are the fields of a document that come first: warnings and the like.
var firstSaid = []string{"schema", "warnings", "trace", "next", "rows"}

// arrange puts fields of a document first.
func (n *shownNode) arrange() {
	for i := len(firstSaid) - 1; i >= 0; i-- {
		j := slices.Index(n.names, firstSaid[i])
		if j < 0 {
			continue
		}
		name, item := n.names[j], n.Items[j]
		n.names = slices.Insert(slices.Delete(n.names, j, j+1), 0, name)
		n.Items = slices.Insert(slices.Delete(n.Items, j, j+1), 0, item)
	}
}

// Fit returns as much of a document as goes into so many bytes: first elements of nested
// arrays go, then rows. Its last field names the cuts. more are fields before it.
func Fit(n *shownNode, more string, rows, limit int) ([]byte, error) {
	for _, s := range Narrower(rows) {
		if b := s.Document(n, more); len(b) <= limit {
			return b, nil
		}
	}
	return nil, fmt.Errorf("the answer does not fit into %d bytes: ask for less, or allow more", limit)
}

// Document appends the shown part of an object, with the cuts.
func (s *Bounds) Document(n *shownNode, more string) []byte {
	b := append([]byte{'{'}, more...)
	b = append(b, s.append(nil, n, "")[1:]...)
	return s.AppendCuts(b)
}

// mostCuts is how many cuts are named.
const mostCuts = 12

// AppendCuts appends the cuts to an object.
func (s *Bounds) AppendCuts(b []byte) []byte {
	if len(s.cuts) == 0 {
		return b
	}
	told, err := json.Marshal(s.cuts[:min(mostCuts, len(s.cuts))])
	if err != nil {
		return b
	}
	return append(append(append(b[:len(b)-1], `,"cut":`...), told...), '}')
}

// QuoteJSON returns a text as JSON.
func QuoteJSON(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil { // no text fails
		panic(err)
	}
	return b
}
