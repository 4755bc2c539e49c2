package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// Rows returns the rows that were asked for as a field of a document.
func (r *Ranking) Rows(name string, t *Table) string {
	if t == nil {
		return ""
	}
	r.Apply(t, true)
	t.Shown(func(c Column) bool { return !c.Text })
	b := fmt.Appendf(nil, `,"%s":[`, name)
	for i, row := range t.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.object(b, row)
	}
	return string(append(b, ']'))
}

// WriteContract prints a result of a trace as JSON, with its losses.
func WriteContract(p *Printer, result any, lost int64) error { return WriteMore(p, result, "", lost) }

// WriteMore is writeContract with more fields behind those of the result.
func WriteMore(p *Printer, result any, more string, lost int64) error {
	return WriteDocument(p, result, fmt.Sprintf(`%s,"lost":%d`, more, lost))
}

// WriteDocument prints a result as JSON: its own fields, more of them, and the part that all
// commands share. A result without a schema is of the first one.
func WriteDocument(p *Printer, result any, more string) error {
	text, err := JSON(result)
	if err != nil {
		return err
	}
	own := strings.TrimSuffix(string(text), "}")
	if fields := own[1:]; !strings.HasPrefix(fields, `"schema":`) {
		own = strings.TrimSuffix(`{"schema":1,`+fields, ",")
	}
	text = cli.AppendSafeJSON(nil, []byte(own+more+","))
	_, err = p.Write(append(p.About.append(text), "}\n"...))
	return err
}

// JSON returns a value as JSON, with the characters of HTML as they are.
func JSON(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}
