package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// rows returns the rows that were asked for as a field of a document.
func (r *ranking) rows(name string, t *table) string {
	if t == nil {
		return ""
	}
	r.apply(t, true)
	t.shown(func(c column) bool { return !c.text })
	b := fmt.Appendf(nil, `,"%s":[`, name)
	for i, row := range t.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.object(b, row)
	}
	return string(append(b, ']'))
}

// writeContract prints a result of a trace as JSON, with what was lost of it.
func writeContract(p *printer, result any, lost int64) error { return writeMore(p, result, "", lost) }

// writeMore is writeContract with more fields behind those of the result.
func writeMore(p *printer, result any, more string, lost int64) error {
	return writeDocument(p, result, fmt.Sprintf(`%s,"lost":%d`, more, lost))
}

// writeDocument prints a result as JSON: its own fields, more of them, and what all
// commands have beside it. A result without a schema is of the first one.
func writeDocument(p *printer, result any, more string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return err
	}
	own := strings.TrimSuffix(strings.TrimSpace(b.String()), "}")
	if fields := own[1:]; !strings.HasPrefix(fields, `"schema":`) {
		own = strings.TrimSuffix(`{"schema":1,`+fields, ",")
	}
	text := appendSafeJSON(nil, []byte(own+more+","))
	_, err := p.Write(append(p.about.append(text), "}\n"...))
	return err
}
