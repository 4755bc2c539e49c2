package pdb

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// maxLinks is how long a list of links may be.
const maxLinks = 1 << 20

// Link returns the address at which a document was when it was compiled, if the file tells
// that. It is text out of a file: who asks for it decides whom may be asked.
func (f *File) Link(n int) (address string, ok bool) {
	var list struct {
		Documents map[string]string `json:"documents"`
	}
	name := f.Document(n).Name
	if name == "" || len(f.links) > maxLinks || json.Unmarshal(f.links, &list) != nil {
		return "", false
	}
	longest := -1
	for _, pattern := range slices.Sorted(maps.Keys(list.Documents)) {
		to := list.Documents[pattern]
		begin, many := strings.CutSuffix(pattern, "*")
		rest, fits := cutFold(name, begin)
		before, behind, open := strings.Cut(to, "*")
		if !fits || many != open || !many && rest != "" || len(begin) <= longest {
			continue
		}
		longest, address = len(begin), before+escape(rest)+behind
	}
	return address, longest >= 0
}

// cutFold cuts the begin off a name, in which case does not count.
func cutFold(name, begin string) (rest string, ok bool) {
	if len(name) < len(begin) || !strings.EqualFold(name[:len(begin)], begin) {
		return "", false
	}
	return name[len(begin):], true
}

// escape writes the rest of a path as that of an address.
func escape(path string) string {
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
