package kinds

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// maxTagDepth bounds how deep tags are in each other.
const maxTagDepth = 64

// isXML reports whether a file begins as XML does, and not as a rule that begins with a sign.
func isXML(head []byte) bool {
	return len(head) > 1 && head[0] == '<' && (head[1] == '?' || head[1] == '!' || head[1] >= 'A' && head[1] <= 'Z')
}

// addTags reads the stack tags of Windows Performance Analyzer: elements Tag, one in another,
// with the modules and methods that they stand for. A tag is a kind of work, and that of the
// innermost frame that has one is the kind of a sample. Elements HintTag, which make tags of
// modules of callers or callees, and priorities have no part in it.
func (r *Rules) addTags(in io.Reader) error {
	d := xml.NewDecoder(in)
	var path []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			switch e := token.(type) {
			case xml.StartElement:
				path, err = r.tag(d, e, path)
			case xml.EndElement:
				if e.Name.Local == "Tag" {
					path = path[:len(path)-1]
				}
			}
		}
		if err != nil {
			line, _ := d.InputPos()
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// tag takes an element within the tags of path.
func (r *Rules) tag(d *xml.Decoder, e xml.StartElement, path []string) ([]string, error) {
	attributes := make(map[string]string)
	for _, a := range e.Attr {
		attributes[a.Name.Local] = strings.TrimSpace(a.Value)
	}
	switch e.Name.Local {
	case "Tag":
		if len(path) == maxTagDepth {
			return nil, fmt.Errorf("tags are more than %d deep in each other", maxTagDepth)
		}
		return append(path, attributes["Name"]), nil
	case "Entrypoint":
		title := strings.Trim(strings.Join(path, `\`), `\`)
		name := kindOf(title)
		module, method := attributes["Module"], attributes["Method"]
		if name == "" || module == "" || method == "" {
			return nil, fmt.Errorf("an Entrypoint wants a Module, a Method and a Tag with a Name")
		}
		kind, err := r.section("[" + name + "] " + title)
		if err != nil {
			return nil, err
		}
		r.list = append(r.list, rule{module: strings.ToLower(trimSuffix(module)), method: method, kind: kind, reach: tagged})
		return path, nil
	case "HintTag":
		return path, d.Skip()
	}
	return path, nil
}

// kindOf returns the name of a kind for the names of tags, such as html-script for HTML\Script.
func kindOf(title string) string {
	name := strings.Join(strings.FieldsFunc(strings.ToLower(title), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }), "-")
	if name == caller || name == Unknown {
		name += "-tag"
	}
	return name
}
